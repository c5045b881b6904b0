-- When a poll first saw the upstream at work. Null: no poll has, or the release before wrote the row.
ALTER TABLE tasks ADD COLUMN working_at BIGINT;
