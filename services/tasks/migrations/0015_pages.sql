-- The failed tasks of an account by age. The state is a column of the index too, so that SQLite counts in it alone.
CREATE INDEX tasks_failed ON tasks (account_id, id, state) WHERE state = 'failed';

-- The events about a task or a job, for the list of its deliveries.
CREATE INDEX events_by_subject ON events (subject_id, id);
