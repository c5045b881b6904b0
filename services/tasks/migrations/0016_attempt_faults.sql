-- Who is to blame for a refused attempt, as adapters say it. Null: nothing was asked of the upstream, or the release
-- before wrote the attempt.
ALTER TABLE attempts ADD COLUMN fault TEXT;
