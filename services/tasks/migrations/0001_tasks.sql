-- Times are milliseconds since 1970; JSON is text; flags are 0 or 1.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  -- The frozen order.
  order_json TEXT NOT NULL,
  -- submitting, accepted, refused or unknown.
  admission TEXT NOT NULL,
  -- The process that works on a create; its death is noticed by its missing heartbeat.
  owner TEXT,
  -- queued, in_progress, completed or failed.
  state TEXT NOT NULL,
  upstream_status TEXT,
  unrecognised INTEGER NOT NULL DEFAULT 0,
  progress INTEGER NOT NULL DEFAULT 0,
  seconds INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  finished_at BIGINT,
  expires_at BIGINT,
  channel TEXT,
  upstream_account TEXT,
  upstream_id TEXT,
  result_json TEXT,
  failure_json TEXT,
  usage_json TEXT,
  -- The due-queue: null when nothing is to be polled.
  next_poll_at BIGINT,
  -- While a process looks, nobody else does.
  lease_until BIGINT,
  poll_errors INTEGER NOT NULL DEFAULT 0,
  -- Which counters of tasks in flight it stands in, as a JSON list.
  in_flight_json TEXT NOT NULL,
  -- When billing confirmed that its money is settled.
  settled_at BIGINT,
  -- When its owner removed it from sight.
  deleted_at BIGINT
);

CREATE INDEX tasks_by_account ON tasks (account_id, id);

CREATE INDEX tasks_due ON tasks (channel, next_poll_at) WHERE next_poll_at IS NOT NULL;

CREATE INDEX tasks_unsettled ON tasks (finished_at) WHERE finished_at IS NOT NULL AND settled_at IS NULL;

CREATE INDEX tasks_unsure ON tasks (admission) WHERE admission = 'submitting' OR admission = 'unknown';

CREATE INDEX tasks_unfinished ON tasks (created_at) WHERE finished_at IS NULL;

CREATE UNIQUE INDEX tasks_by_upstream ON tasks (upstream_account, upstream_id) WHERE upstream_id IS NOT NULL;

-- One row for each try of a task on a channel, written before the upstream is called.
CREATE TABLE attempts (
  task_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  channel TEXT NOT NULL,
  upstream_id TEXT,
  -- started, accepted, refused or unknown.
  outcome TEXT NOT NULL,
  error TEXT,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (task_id, number)
);

-- What happened to a task, for people.
CREATE TABLE task_events (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  detail_json TEXT NOT NULL
);

CREATE INDEX task_events_by_task ON task_events (task_id, id);

-- Names a create call for a day.
CREATE TABLE idempotency_keys (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  task_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, key)
);

CREATE INDEX idempotency_keys_by_task ON idempotency_keys (task_id);

-- How many tasks are in flight in all, for a token and on a channel.
CREATE TABLE in_flight (
  scope TEXT PRIMARY KEY,
  count BIGINT NOT NULL
);

-- What waits for a person.
CREATE TABLE attention (
  task_id TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  since BIGINT NOT NULL,
  resolved_at BIGINT,
  resolution TEXT,
  actor TEXT
);

CREATE INDEX attention_open ON attention (since) WHERE resolved_at IS NULL;

-- Events that are still to be published.
CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- The processes of this service and when each was last alive.
CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  beat_at BIGINT NOT NULL
);
