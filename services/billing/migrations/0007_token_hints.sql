-- The last characters of the key of a token, by which people tell tokens apart; empty: a short key has none, and one of
-- before this column gets it at its next use.
ALTER TABLE tokens ADD COLUMN hint TEXT NOT NULL DEFAULT '';
CREATE INDEX tokens_by_hint ON tokens (hint, created_at, id) WHERE hint <> '';
