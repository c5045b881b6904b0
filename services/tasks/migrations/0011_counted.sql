-- Metrics count unfinished tasks by channel and state, and find the oldest task that is not settled, in an index alone.
-- SQLite does so only if the index has the column of its own condition too.
DROP INDEX tasks_unfinished;

CREATE INDEX tasks_unfinished ON tasks (deadline_passed, created_at, channel, state, finished_at)
  WHERE finished_at IS NULL;

DROP INDEX tasks_unsettled;

CREATE INDEX tasks_unsettled ON tasks (settle_at, finished_at, settled_at)
  WHERE finished_at IS NOT NULL AND settled_at IS NULL;
