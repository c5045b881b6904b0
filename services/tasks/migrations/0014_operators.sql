-- Channels that get no new work until an operator resumes them.
CREATE TABLE channel_pauses (
  channel TEXT PRIMARY KEY,
  paused_at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- The act that paused it: of several that meet, one did.
  act_id TEXT NOT NULL
);

-- What operators did. A row is written with the change itself.
CREATE TABLE operator_acts (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  -- A channel, a task or a job.
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail_json TEXT NOT NULL
);

CREATE INDEX operator_acts_by_subject ON operator_acts (subject, id);

-- What each process counted in a minute. A row without a channel counts for all channels.
CREATE TABLE minute_counts (
  minute BIGINT NOT NULL,
  process TEXT NOT NULL,
  channel TEXT NOT NULL,
  counts_json TEXT NOT NULL,
  PRIMARY KEY (minute, process, channel)
);
