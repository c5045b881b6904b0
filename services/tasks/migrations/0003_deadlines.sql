-- How far past its deadlines an unfinished task is known to be: 1 past the soft one, 2 past the hard one.
ALTER TABLE tasks ADD COLUMN deadline_passed INTEGER NOT NULL DEFAULT 0;

DROP INDEX tasks_unfinished;

CREATE INDEX tasks_unfinished ON tasks (deadline_passed, created_at) WHERE finished_at IS NULL;
