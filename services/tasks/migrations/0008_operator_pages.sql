-- The indexes come first and in the order in which transactions lock these tables, so that neither waits for the other.

-- Searches by the ids of requests that clients have given. One of our own says when it was made, so its task is found
-- near that time, and a create under it pays for no index.
CREATE INDEX tasks_by_request ON tasks (request_id, id)
  WHERE substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30;

-- Searches by the trace of a create that was sampled. Those of jobs follow.
CREATE INDEX tasks_by_trace ON tasks (substr(trace, 4, 32), id) WHERE trace IS NOT NULL;

CREATE INDEX jobs_by_request ON jobs (request_id, id)
  WHERE substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30;

CREATE INDEX jobs_by_trace ON jobs (substr(trace, 4, 32), id) WHERE trace IS NOT NULL;

-- What waits, or waited, for a person since a time.
CREATE INDEX attention_by_time ON attention (since);

-- The time at which the channel comes back by itself. Null: an operator resumes it. The release before does not know the
-- column, and obeys the row until a newer process removes it.
ALTER TABLE channel_pauses ADD COLUMN ends_at BIGINT;

-- What failed at a channel, for people. Of ten seconds a process writes the newest twenty, and they are kept for a day.
CREATE TABLE channel_failures (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  at BIGINT NOT NULL,
  -- attempt, poll or task.
  kind TEXT NOT NULL,
  task_id TEXT NOT NULL,
  error TEXT NOT NULL
);

CREATE INDEX channel_failures_by_channel ON channel_failures (channel, id);

-- The refused creates and failed tasks of a minute, by model and by account and by their cause, as each process counted
-- them. Without a subject: those of models that are not configured, and those beyond the bound of a process.
CREATE TABLE fault_minutes (
  minute BIGINT NOT NULL,
  process TEXT NOT NULL,
  -- model or account.
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  counts_json TEXT NOT NULL,
  PRIMARY KEY (minute, process, kind, subject)
);

-- What happened that operators hear of at a hand-over and that none of them did: circuits of channels that opened and
-- closed, configurations that were applied. Processes that see the same within a minute write one row.
CREATE TABLE happenings (
  minute BIGINT NOT NULL,
  type TEXT NOT NULL,
  -- A channel. Empty: the service itself.
  subject TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (minute, type, subject)
);

-- How far each operator has read what happened.
CREATE TABLE hand_over_marks (
  actor TEXT PRIMARY KEY,
  read_until BIGINT NOT NULL
);

-- Notes of operators for the next one. The number is its place among the notes of its subject, of which there is a bound.
CREATE TABLE operator_notes (
  id TEXT PRIMARY KEY,
  -- The id of a channel, a task or a job.
  subject TEXT NOT NULL,
  number INTEGER NOT NULL,
  at BIGINT NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL
);

CREATE UNIQUE INDEX operator_notes_by_subject ON operator_notes (subject, number);
