-- The limits that a token has of its own; empty is the configured number.
ALTER TABLE tokens ADD COLUMN creates_per_minute INTEGER CHECK (creates_per_minute > 0);
ALTER TABLE tokens ADD COLUMN reads_per_minute INTEGER CHECK (reads_per_minute > 0);
ALTER TABLE tokens ADD COLUMN calls_per_minute INTEGER CHECK (calls_per_minute > 0);
ALTER TABLE tokens ADD COLUMN in_flight INTEGER CHECK (in_flight > 0);
