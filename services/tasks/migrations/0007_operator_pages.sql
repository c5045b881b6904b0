-- The time at which the channel comes back by itself. Null: an operator resumes it. The release before does not know the
-- column, and obeys the row until a newer process removes it.
ALTER TABLE channel_pauses ADD COLUMN ends_at BIGINT;
