-- The tokens that a token made: the spending limit of a maker bounds them all together, and their revocation follows them.
CREATE INDEX tokens_by_maker ON tokens (made_by_token_id) WHERE made_by_token_id IS NOT NULL;
