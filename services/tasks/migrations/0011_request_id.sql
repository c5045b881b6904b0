-- The id of the request that created the task, for the log lines of the work that follows. Null: it had none, or the
-- release before wrote the row.
ALTER TABLE tasks ADD COLUMN request_id TEXT;
