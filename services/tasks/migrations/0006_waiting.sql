-- Finished tasks are asked to be settled from this time on, each time a settlement failed a later one.
ALTER TABLE tasks ADD COLUMN settle_at BIGINT;

ALTER TABLE tasks ADD COLUMN settle_failures INTEGER NOT NULL DEFAULT 0;

UPDATE tasks SET settle_at = finished_at WHERE finished_at IS NOT NULL AND settled_at IS NULL;

DROP INDEX tasks_unsettled;

CREATE INDEX tasks_unsettled ON tasks (settle_at) WHERE finished_at IS NOT NULL AND settled_at IS NULL;

-- What looks said that a person should hear of, and how many of them in a row; looks that said nothing of the work are not counted.
ALTER TABLE tasks ADD COLUMN doubt TEXT;

ALTER TABLE tasks ADD COLUMN doubt_looks INTEGER NOT NULL DEFAULT 0;
