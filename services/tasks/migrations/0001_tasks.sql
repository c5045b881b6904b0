-- Times are milliseconds since 1970; JSON is text; flags are 0 or 1.

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  -- The frozen order.
  order_json TEXT NOT NULL,
  -- The objects that hold the media of the order, by their index in its content. A regeneration can be built from them.
  staged_json TEXT,
  -- submitting, accepted, refused or unknown.
  admission TEXT NOT NULL,
  -- The process that creates or polls it. Its death is noticed by its missing heartbeat.
  owner TEXT,
  -- queued, in_progress, completed or failed.
  state TEXT NOT NULL,
  upstream_status TEXT,
  unrecognised INTEGER NOT NULL DEFAULT 0,
  progress INTEGER NOT NULL DEFAULT 0,
  -- The length by which it is charged.
  seconds INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  -- The time of the last change that the owner can see. It grows with each, so it names a version.
  updated_at BIGINT NOT NULL,
  -- The time at which a poll first saw the upstream at work. Null: no poll has.
  working_at BIGINT,
  finished_at BIGINT,
  expires_at BIGINT,
  -- The time at which billing confirmed that its money is settled.
  settled_at BIGINT,
  -- The time from which its settlement is asked for, later with each one that failed.
  settle_at BIGINT,
  settle_failures INTEGER NOT NULL DEFAULT 0,
  -- The time at which its owner removed it from sight.
  deleted_at BIGINT,
  -- 1: it is known to be past the soft deadline. 2: past the hard one.
  deadline_passed INTEGER NOT NULL DEFAULT 0,
  -- The upstream work. The channel alone is set before an upstream has it.
  channel TEXT,
  upstream_account TEXT,
  upstream_id TEXT,
  result_json TEXT,
  failure_json TEXT,
  usage_json TEXT,
  -- The time at which it is polled. Null: no poll follows.
  next_poll_at BIGINT,
  -- Until then no other process polls it.
  lease_until BIGINT,
  poll_errors INTEGER NOT NULL DEFAULT 0,
  -- What polls reported about the work that a person should hear of, and how many did in a row. A poll that learned
  -- nothing about the work is not counted.
  doubt TEXT,
  doubt_looks INTEGER NOT NULL DEFAULT 0,
  -- The polls that were written, and how many of them have a span.
  polls INTEGER NOT NULL DEFAULT 0,
  poll_spans INTEGER NOT NULL DEFAULT 0,
  -- The process that polled it left it before its poll was written.
  resumed INTEGER NOT NULL DEFAULT 0,
  -- The counters in flight that count it, as a JSON list, and those of their shards that do. A counter that no shard
  -- is named for counts by itself.
  in_flight_json TEXT NOT NULL,
  shards_json TEXT,
  -- The request that created it, for log lines. Null: it had no id.
  request_id TEXT,
  -- The W3C `traceparent` that its work continues, and the span that its own span is a child of. Null: its create was
  -- not sampled.
  trace TEXT,
  trace_parent TEXT,
  -- The URL that the event of its end is delivered to. Null: the request carried none.
  webhook_url TEXT
);

CREATE INDEX tasks_by_account ON tasks (account_id, id);

-- The failed tasks of an account by age. The state is a column of the index too, because SQLite prefers an index that
-- fixes more columns, and counts in it alone.
CREATE INDEX tasks_failed ON tasks (account_id, state, id) WHERE state = 'failed';

CREATE INDEX tasks_changed ON tasks (account_id, state, updated_at, id) WHERE admission IN ('accepted', 'unknown');

CREATE UNIQUE INDEX tasks_by_upstream ON tasks (upstream_account, upstream_id) WHERE upstream_id IS NOT NULL;

CREATE INDEX tasks_due ON tasks (channel, next_poll_at) WHERE next_poll_at IS NOT NULL;

CREATE INDEX tasks_unsure ON tasks (admission) WHERE admission = 'submitting' OR admission = 'unknown';

-- Metrics count unfinished tasks by channel and state, and find the oldest task that is not settled, in an index alone.
-- SQLite does so only if the index has the columns of its own condition too.
CREATE INDEX tasks_unfinished ON tasks (deadline_passed, created_at, channel, state, finished_at)
  WHERE finished_at IS NULL;

CREATE INDEX tasks_unsettled ON tasks (settle_at, finished_at, settled_at)
  WHERE finished_at IS NOT NULL AND settled_at IS NULL;

-- The tasks that may be removed when they are old enough.
CREATE INDEX tasks_settled ON tasks (finished_at) WHERE settled_at IS NOT NULL;

-- A row for each attempt of a task on a channel. It is written before the upstream is called.
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

-- The history of a task or a job, for people. What the row of a task and its attempts tell has no entry.
CREATE TABLE task_events (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  detail_json TEXT NOT NULL
);

CREATE INDEX task_events_by_task ON task_events (task_id, id);

-- The keys that name creates of tasks and jobs for a day.
CREATE TABLE idempotency_keys (
  account_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- A task or a job.
  task_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, key)
);

CREATE INDEX idempotency_keys_by_task ON idempotency_keys (task_id);

CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);

-- The counters of tasks and jobs in flight: of each token, of each channel and of all tokens. A counter with a large limit
-- is spread over shards, so that creates and ends do not all wait for one row. A shard counts as many tasks as it has
-- permits. The row of the counter counts the permits of its shards as taken, so a process that knows of no shards still
-- keeps the limit. What is in flight is the sum of `count - permits` over the counter and its shards.
CREATE TABLE in_flight (
  scope TEXT PRIMARY KEY,
  count BIGINT NOT NULL,
  permits BIGINT NOT NULL DEFAULT 0,
  -- The counter of a shard. Null: the row is a counter.
  shard_of TEXT
);

CREATE INDEX in_flight_shards ON in_flight (shard_of) WHERE shard_of IS NOT NULL;

-- The tasks and jobs that wait, or waited, for a person.
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

-- Events for other services that are still to be published.
CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- The `traceparent` of the fact that the event reports.
  trace TEXT
);

-- The processes of this service, with the time at which each was last alive.
CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  beat_at BIGINT NOT NULL
);

-- Calls of synchronous routes that are made later. Counters, idempotency keys, history and attention are those of the
-- tasks.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  -- The models that the token could use, as a JSON list.
  models_json TEXT NOT NULL,
  -- The request that created it.
  request_id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  model TEXT NOT NULL,
  -- A second call does no harm.
  repeatable INTEGER NOT NULL,
  -- queued, in_progress, completed or failed.
  state TEXT NOT NULL,
  -- The time from which a worker may take it. Null: a worker has it, or it has ended.
  due_at BIGINT,
  -- The name of the lease of one worker. Only a call with this name changes the job.
  lease TEXT,
  lease_until BIGINT,
  worker TEXT,
  -- The number of calls of its upstream that were about to be made.
  starts INTEGER NOT NULL DEFAULT 0,
  -- The private media objects that it claims.
  body_object TEXT,
  answer_object TEXT,
  answer_json TEXT,
  failure_json TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  finished_at BIGINT,
  -- The counters that count it, as for a task: those of its token, of the tokens that made it, and of all tokens.
  in_flight_json TEXT,
  shards_json TEXT,
  -- As for a task.
  trace TEXT,
  trace_parent TEXT,
  webhook_url TEXT
);

CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX jobs_unfinished ON jobs (state, created_at) WHERE finished_at IS NULL;

CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX jobs_spent ON jobs (finished_at) WHERE finished_at IS NOT NULL AND body_object IS NOT NULL;

-- The frozen request of a job, as long as it may still be made. It is apart from the job, so that the moves of the job do
-- not write it again.
CREATE TABLE job_calls (
  job_id TEXT PRIMARY KEY,
  call_json TEXT NOT NULL
);

-- What clients hear. A row is written with the fact that it reports.
CREATE TABLE events (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  type TEXT NOT NULL,
  -- A task, a job or an account.
  subject_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  -- The URL that the request carried.
  url TEXT,
  -- Further members of the event's data, as a JSON object.
  data_json TEXT,
  -- The place in the order of all streams. Null: it is not dispatched yet. Rows are dispatched by one transaction at a
  -- time, so a row with a smaller place never becomes visible later than one with a greater place.
  seq BIGINT,
  -- The work that the event goes back to, for the spans and the log lines of its deliveries: the request that created
  -- its task or job, the W3C `traceparent` that the work continues, and the time of its creation. Null: it has none.
  request_id TEXT,
  trace TEXT,
  work_created_at BIGINT
);

CREATE INDEX events_undispatched ON events (created_at, id) WHERE seq IS NULL;

CREATE UNIQUE INDEX events_by_seq ON events (seq) WHERE seq IS NOT NULL;

CREATE INDEX events_by_account ON events (account_id, seq) WHERE seq IS NOT NULL;

-- The events about a task or a job, for the list of its deliveries.
CREATE INDEX events_by_subject ON events (subject_id, id);

-- The last place that was given. Its row is the lock of the dispatch.
CREATE TABLE event_sequence (
  id INTEGER PRIMARY KEY,
  last BIGINT NOT NULL
);

INSERT INTO event_sequence (id, last) VALUES (1, 0);

-- The number of endpoints of an account. Its row is the lock of a create.
CREATE TABLE webhook_accounts (
  account_id TEXT PRIMARY KEY,
  endpoints INTEGER NOT NULL
);

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  event_types_json TEXT NOT NULL,
  -- thin or full.
  payload TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  disabled_at BIGINT,
  -- gone, failing or by_owner.
  disabled_reason TEXT
);

CREATE INDEX webhook_endpoints_by_account ON webhook_endpoints (account_id, id);

CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_reason) WHERE disabled_at IS NOT NULL;

-- The signing secrets, sealed with a key that is derived from the signing key. The owner is an endpoint, or
-- `default:ACCOUNT` for the URLs that requests carry.
CREATE TABLE webhook_secrets (
  owner_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  hint TEXT NOT NULL,
  -- The secret before the last rotation, while it also signs.
  old_sealed TEXT,
  old_until BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

-- Where deliveries go: an endpoint, or an origin that requests of an account name. Deliveries of one receiver are leased
-- together, so that a receiver has one worker at a time.
CREATE TABLE webhook_receivers (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  -- The time at which its first delivery is due, or its circuit lets the next one through, or its lease ends. Null:
  -- nothing is due.
  due_at BIGINT,
  -- The name of the lease of one worker. Only a call with this name changes the receiver.
  lease TEXT,
  lease_until BIGINT,
  -- The process that leased it, by a name that it drew at its start. Null: a worker without a name, whose leases are not
  -- renewed.
  worker TEXT,
  -- Attempts that failed in a row, and since when.
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since BIGINT,
  -- Until then no attempt begins.
  open_until BIGINT,
  -- Counts what its circuit counted: a failure, or the success that closed it. An attempt that began before the last
  -- count was under way together with the failure that was counted, and is not counted again.
  circuit BIGINT NOT NULL DEFAULT 0,
  last_success_at BIGINT,
  last_failure_at BIGINT,
  updated_at BIGINT NOT NULL
);

CREATE INDEX webhook_receivers_due ON webhook_receivers (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX webhook_receivers_leased ON webhook_receivers (lease_until, account_id) WHERE lease_until IS NOT NULL;

CREATE INDEX webhook_receivers_idle ON webhook_receivers (updated_at) WHERE due_at IS NULL;

-- An event on its way to a receiver.
CREATE TABLE webhook_deliveries (
  id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  receiver_id TEXT NOT NULL,
  -- `default`: the request carried the URL.
  endpoint_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  -- The URL that the request carried. Null: that of the endpoint.
  url TEXT,
  -- pending, delivered or failed.
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- The number of attempts that belong to an earlier sending: a resent delivery begins its schedule anew.
  attempts_before INTEGER NOT NULL DEFAULT 0,
  -- Null: no attempt follows. A pending delivery always has one.
  due_at BIGINT,
  -- The number of times that a success of the receiver made it due before its time.
  hurries INTEGER NOT NULL DEFAULT 0,
  status INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  ended_at BIGINT
);

CREATE UNIQUE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id, receiver_id);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (receiver_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (account_id, endpoint_id, id);

-- Few among the delivered ones.
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (account_id, endpoint_id, id)
WHERE state <> 'delivered';

CREATE TABLE webhook_attempts (
  delivery_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  at BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  status INTEGER NOT NULL,
  error TEXT NOT NULL,
  headers_json TEXT NOT NULL,
  answer_head TEXT NOT NULL,
  PRIMARY KEY (delivery_id, number)
);

-- Channels that get no new work until an operator resumes them.
CREATE TABLE channel_pauses (
  channel TEXT PRIMARY KEY,
  paused_at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- The act that paused it. Of several at the same moment, one did.
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
