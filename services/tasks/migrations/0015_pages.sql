-- The failed tasks of an account by age. The state is a column of the index too, because SQLite prefers an index that
-- fixes more columns, and counts in it alone.
CREATE INDEX tasks_failed ON tasks (account_id, state, id) WHERE state = 'failed';

-- The events about a task or a job, for the list of its deliveries.
CREATE INDEX events_by_subject ON events (subject_id, id);
