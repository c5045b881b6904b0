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
  -- The word by which its client accounts for the task. Null: none.
  label TEXT,
  -- submitting, waiting, accepted, refused or unknown.
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
  -- The time at which it first left the queue, from which its deadlines count. Null: it did not wait.
  began_at BIGINT,
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
  -- What the upstream says that it charged, in millionths of a US dollar. Null: it does not say it.
  upstream_cost_micro_usd BIGINT,
  -- The time at which it is polled. Null: no poll follows.
  next_poll_at BIGINT,
  -- Until then no other process polls it.
  lease_until BIGINT,
  poll_errors INTEGER NOT NULL DEFAULT 0,
  -- A report about the work that a person should see, and how many polls in a row brought one. A poll without a report
  -- on the work is not counted.
  doubt TEXT,
  doubt_polls INTEGER NOT NULL DEFAULT 0,
  -- The polls that were written, and how many of them have a span.
  polls INTEGER NOT NULL DEFAULT 0,
  poll_spans INTEGER NOT NULL DEFAULT 0,
  -- The process that polled it left it before its poll was written.
  resumed INTEGER NOT NULL DEFAULT 0,
  -- The counters in flight that count it, as a JSON list, and those of their shards that do. A counter without a named
  -- shard counts by itself.
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

-- The labelled tasks of an account. A create without a label does not write to it.
CREATE INDEX tasks_by_label ON tasks (account_id, label, id) WHERE label IS NOT NULL;

-- The failed tasks of an account by age. The state is a column of the index too, because SQLite prefers an index that
-- fixes more columns, and counts in it alone.
CREATE INDEX tasks_failed ON tasks (account_id, state, id) WHERE state = 'failed';

-- The tasks that their owner can see.
CREATE INDEX tasks_changed ON tasks (account_id, state, updated_at, id)
  WHERE admission IN ('accepted', 'unknown', 'waiting');

CREATE UNIQUE INDEX tasks_by_upstream ON tasks (upstream_account, upstream_id) WHERE upstream_id IS NOT NULL;

CREATE INDEX tasks_due ON tasks (channel, next_poll_at) WHERE next_poll_at IS NOT NULL;

CREATE INDEX tasks_unsure ON tasks (admission) WHERE admission = 'submitting' OR admission = 'unknown';

-- The tasks from the queue that a process submits now.
CREATE INDEX tasks_claimed ON tasks (admission, owner) WHERE admission = 'waiting' AND owner IS NOT NULL;

-- Metrics count unfinished tasks by channel and state, and find the oldest task that is not settled, in an index alone.
-- SQLite does so only if the index has the columns of its own condition too.
CREATE INDEX tasks_unfinished ON tasks (deadline_passed, created_at, channel, state, finished_at)
  WHERE finished_at IS NULL;

CREATE INDEX tasks_unsettled ON tasks (settle_at, finished_at, settled_at)
  WHERE finished_at IS NOT NULL AND settled_at IS NULL;

-- The tasks that may be removed when they are old enough.
CREATE INDEX tasks_settled ON tasks (finished_at) WHERE settled_at IS NOT NULL;

-- Searches by request ids that clients have given. An id of our own contains the time of its request, so its task is
-- found near that time, and a create under it does not write to the index.
CREATE INDEX tasks_by_request ON tasks (request_id, id)
  WHERE substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30;

-- Searches by the trace of a sampled create.
CREATE INDEX tasks_by_trace ON tasks (substr(trace, 4, 32), id) WHERE trace IS NOT NULL;

-- A row for each attempt of a task on a channel. It is written before the upstream is called.
CREATE TABLE attempts (
  task_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  channel TEXT NOT NULL,
  upstream_id TEXT,
  -- started, accepted, refused or unknown.
  outcome TEXT NOT NULL,
  error TEXT,
  -- Who is to blame for a refused attempt, as its adapter says. Null: nothing was asked of the upstream.
  fault TEXT,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (task_id, number)
) WITHOUT ROWID;

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

-- The counters of tasks and jobs in flight: of each token, of each channel and of all tokens. A counter with a large
-- limit is spread over shards, so that creates and ends do not all wait for one row. A shard counts as many tasks as it
-- has permits, and the row of the counter counts the permits of its shards as taken. What is in flight is the sum of
-- `count - permits` over the counter and its shards.
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

CREATE INDEX attention_by_time ON attention (since);

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

-- The times at which a process saw that a clock was set, or that the clocks of the processes differ, in milliseconds
-- and rounded down to hours, so that no day adds more than 24 rows. The times in rows of tasks can be wrong near them.
CREATE TABLE clock_doubts (
  at BIGINT PRIMARY KEY
);

-- The places of the tasks that wait for a channel. A place stays until the upstream has answered, so that a task that
-- no upstream took returns to it.
CREATE TABLE waiting (
  task_id TEXT PRIMARY KEY,
  -- The tasks of a lane can be done by the same channels.
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  -- Seconds of video.
  cost BIGINT NOT NULL,
  since BIGINT NOT NULL,
  -- The task fails without a turn until then.
  start_by BIGINT NOT NULL,
  -- The counters that it takes at its turn, with their limits.
  caps_json TEXT NOT NULL,
  -- The staged media of its order and of its source.
  media_json TEXT NOT NULL,
  -- 1: a process submits it now.
  claimed INTEGER NOT NULL DEFAULT 0,
  -- The lowest rank has the next turn of its token, and of equal ranks the oldest task. Only an operator sets one.
  rank BIGINT NOT NULL DEFAULT 0,
  -- Before this time it has no turn and waits in the lane `scheduled`; from then on it waits in `next_lane`.
  not_before BIGINT,
  next_lane TEXT,
  -- The number of its refusals, without those in which an upstream only limited its callers.
  refusals INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX waiting_heads ON waiting (lane, token_id, rank, task_id) WHERE claimed = 0;

CREATE INDEX waiting_scheduled ON waiting (not_before) WHERE next_lane IS NOT NULL;

CREATE INDEX waiting_by_account ON waiting (account_id, lane, since) WHERE claimed = 0;

CREATE INDEX waiting_by_end ON waiting (start_by) WHERE claimed = 0;

-- The task of a lane that has waited longest.
CREATE INDEX waiting_oldest ON waiting (lane, since) WHERE claimed = 0;

CREATE INDEX waiting_claimed ON waiting (claimed) WHERE claimed = 1;

-- What the accounts of a lane have used of it, in virtual time: the account that used least is next. A transaction that
-- changes places locks the row of their account first.
CREATE TABLE queue_accounts (
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  weight INTEGER NOT NULL DEFAULT 1,
  used BIGINT NOT NULL DEFAULT 0,
  -- The number of its places that no process has claimed.
  waiting BIGINT NOT NULL DEFAULT 0,
  -- 0: each of its tokens that waits is at its limit.
  ready INTEGER NOT NULL DEFAULT 1,
  -- 1: an operator holds it.
  held INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, account_id)
);

CREATE INDEX queue_accounts_next ON queue_accounts (lane, used, account_id)
  WHERE waiting > 0 AND ready = 1 AND held = 0;

CREATE INDEX queue_accounts_waiting ON queue_accounts (account_id) WHERE waiting > 0;

-- What the tokens of an account have used of a lane.
CREATE TABLE queue_tokens (
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  used BIGINT NOT NULL DEFAULT 0,
  waiting BIGINT NOT NULL DEFAULT 0,
  -- 0: the token is at its limit.
  ready INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (lane, account_id, token_id)
);

CREATE INDEX queue_tokens_next ON queue_tokens (lane, account_id, used, token_id) WHERE waiting > 0 AND ready = 1;

CREATE INDEX queue_tokens_blocked ON queue_tokens (token_id) WHERE ready = 0;

-- Decisions of operators on an account or a model, for every lane. A lane that an account enters later takes them over.
CREATE TABLE queue_rules (
  -- `account:ID` or `model:ID`.
  subject TEXT PRIMARY KEY,
  weight INTEGER NOT NULL DEFAULT 1,
  -- The time at which the weight ends. Null: it does not end.
  weight_until BIGINT,
  held INTEGER NOT NULL DEFAULT 0
);

-- Calls of synchronous routes that are made later. Their counters, idempotency keys, history and attention are in the
-- tables of the tasks.
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
  -- The number of times that a call of its upstream was about to begin.
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

-- A lease passes over the due jobs of accounts with a running job without reading their rows.
CREATE INDEX jobs_due ON jobs (due_at, account_id) WHERE due_at IS NOT NULL;

CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX jobs_unfinished ON jobs (state, created_at) WHERE finished_at IS NULL;

CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX jobs_spent ON jobs (finished_at) WHERE finished_at IS NOT NULL AND body_object IS NOT NULL;

-- Searches by request and by trace, as for tasks.
CREATE INDEX jobs_by_request ON jobs (request_id, id)
  WHERE substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30;

CREATE INDEX jobs_by_trace ON jobs (substr(trace, 4, 32), id) WHERE trace IS NOT NULL;

-- The frozen call of a job, as long as it may still be made. It is a table of its own, so that updates of the job do
-- not write it again.
CREATE TABLE job_calls (
  job_id TEXT PRIMARY KEY,
  call_json TEXT NOT NULL
);

-- Many creates under one id, each a line of a file of the client.
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  request_id TEXT,
  endpoint TEXT NOT NULL,
  input_file_id TEXT NOT NULL,
  metadata_json TEXT NOT NULL,
  -- The label of the tasks and calls of its lines. Null: the label of its token.
  label TEXT,
  output_expires_after_ms BIGINT,
  -- The most that its lines may hold and be charged together, in billionths. Null: there is no bound.
  max_nanos BIGINT,
  -- reading, running, writing or ended.
  phase TEXT NOT NULL,
  -- completed, failed, expired or cancelled: how it ends, from the time at which that is decided.
  outcome TEXT,
  model TEXT,
  -- Its lines, those whose task completed, and those that ended without a result. The transaction that changes a line
  -- changes them.
  total BIGINT NOT NULL DEFAULT 0,
  completed BIGINT NOT NULL DEFAULT 0,
  failed BIGINT NOT NULL DEFAULT 0,
  -- What its lines that have begun cost at most, in billionths.
  reserved_nanos BIGINT NOT NULL DEFAULT 0,
  -- What its ended lines were charged, in billionths, with the currency. Null: no line is counted yet.
  charged_nanos BIGINT NOT NULL DEFAULT 0,
  currency TEXT,
  -- The lines of an ended batch whose money was not settled at its end.
  uncharged BIGINT NOT NULL DEFAULT 0,
  faults_json TEXT,
  output_file_id TEXT,
  error_file_id TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  running_at BIGINT,
  writing_at BIGINT,
  cancelling_at BIGINT,
  ended_at BIGINT,
  -- 0: its lines are removed, which begins when it has ended. Until then it counts to the open batches of its account.
  has_lines INTEGER NOT NULL DEFAULT 1,
  -- The time at which a worker takes it. While one has it: the end of its lease. Null: it has ended.
  due_at BIGINT,
  lease TEXT
);

CREATE INDEX batches_by_account ON batches (account_id, id);

CREATE INDEX batches_open ON batches (account_id, phase) WHERE phase <> 'ended';

CREATE INDEX batches_due ON batches (phase, due_at) WHERE due_at IS NOT NULL;

-- The accounts of a phase with their batches. A lease goes through the accounts, and reads few batches of each.
CREATE INDEX batches_turns ON batches (phase, account_id, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX batches_ended ON batches (ended_at) WHERE ended_at IS NOT NULL;

-- The ended batches of an account that still have lines.
CREATE INDEX batches_left ON batches (account_id, ended_at) WHERE ended_at IS NOT NULL AND has_lines = 1;

-- The ended batches of an account, which count to what it stores.
CREATE INDEX batches_kept ON batches (account_id) WHERE ended_at IS NOT NULL;

-- The lines of the input files.
CREATE TABLE batch_lines (
  batch_id TEXT NOT NULL,
  -- From 1, as in the file.
  number INTEGER NOT NULL,
  custom_id TEXT NOT NULL,
  -- pending: nothing has begun. starting: its create may have begun, under its key. running: it has a task. completed
  -- and failed: its task has ended. refused: it ended without a task.
  state TEXT NOT NULL,
  -- The order of the line, or the call that it makes later. Null: the line is of the other kind, or needs it no longer.
  order_json TEXT,
  call_json TEXT,
  -- The client's names for fields of the order, as a JSON object, where they differ. Null: no name differs.
  names_json TEXT,
  -- Its task or job.
  task_id TEXT,
  fault_json TEXT,
  -- The part of `reserved_nanos` that it takes.
  nanos BIGINT NOT NULL DEFAULT 0,
  -- What it was charged. Null: the charge is not counted in its batch.
  charged_nanos BIGINT,
  PRIMARY KEY (batch_id, number)
);

CREATE INDEX batch_lines_open ON batch_lines (batch_id, state, number)
  WHERE state IN ('pending', 'starting', 'running');

CREATE INDEX batch_lines_uncharged ON batch_lines (batch_id, number)
  WHERE charged_nanos IS NULL AND task_id IS NOT NULL AND state IN ('completed', 'failed');

-- The words of prompts, for the search of tasks. A pass writes them after the create.
CREATE TABLE prompt_words (
  account_id TEXT NOT NULL,
  word TEXT NOT NULL,
  task_id TEXT NOT NULL,
  PRIMARY KEY (account_id, word, task_id)
);

-- The tasks whose prompts have been read.
CREATE TABLE read_prompts (
  task_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  -- Its words between bars, such as `|red|kite|`.
  words TEXT NOT NULL
);

-- The places up to which the prompts have been read. A process updates the row only if it is as it read it, so two
-- processes never do the same work.
CREATE TABLE prompt_reading (
  id INTEGER PRIMARY KEY,
  -- The place of the last event of an end that was read. No later end is missed.
  ended_seq BIGINT NOT NULL,
  -- The last new task that was read, so that tasks are found before they end. A task that was committed late is missed
  -- here, and read at its end.
  seen_id TEXT NOT NULL
);

INSERT INTO prompt_reading (id, ended_seq, seen_id) VALUES (1, 0, '');

-- Events for clients. An event is written in the transaction of the fact that it reports.
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
  -- The work behind the event, for the spans and the log lines of its deliveries: the request that created the task or
  -- job, the W3C `traceparent` that the work continues, and the time of its creation. Null: it is not about work.
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

-- Where deliveries go: an endpoint, or an origin that requests of an account name. Deliveries of one receiver are
-- leased together, so that a receiver has one worker at a time.
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
  -- The process that leased it last, by a name that it drew at its start. Null: it was never leased.
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
  -- The URL that the request carried. Null: the URL of the endpoint.
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

-- Channels that operators have paused. They get no new work.
CREATE TABLE channel_pauses (
  channel TEXT PRIMARY KEY,
  paused_at BIGINT NOT NULL,
  -- The time at which the pause ends by itself. Null: an operator resumes the channel.
  ends_at BIGINT,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- The act that paused it. Of several at the same moment, one did.
  act_id TEXT NOT NULL
);

-- Requests of an upstream to send no calls of a kind before a time. Every process obeys them, also after a start.
CREATE TABLE channel_waits (
  channel TEXT NOT NULL,
  -- work or reads.
  kind TEXT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (channel, kind)
);

-- The calls that a process of the gateway has sent to a channel in a second. A gateway that starts counts them to the
-- minute of the channel.
CREATE TABLE channel_calls (
  channel TEXT NOT NULL,
  process TEXT NOT NULL,
  -- The beginning of the second.
  at BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (channel, process, at)
);

-- Failures at a channel, for people. A process writes the newest twenty of ten seconds. They are kept for a day.
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

-- What each process counted in a minute. A row without a channel counts for all channels.
CREATE TABLE minute_counts (
  minute BIGINT NOT NULL,
  process TEXT NOT NULL,
  channel TEXT NOT NULL,
  counts_json TEXT NOT NULL,
  PRIMARY KEY (minute, process, channel)
);

-- The refused creates and failed tasks of a minute, by model and by account and by their cause, as each process counted
-- them. A row without a subject counts models that are not configured, and what exceeds the bound of a process.
CREATE TABLE fault_minutes (
  minute BIGINT NOT NULL,
  process TEXT NOT NULL,
  -- model or account.
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  counts_json TEXT NOT NULL,
  PRIMARY KEY (minute, process, kind, subject)
);

-- Acts of operators. An act is written in the transaction of the change.
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

-- What happened to the service without an operator, for the hand-over between operators: circuits of channels that
-- opened and closed, configurations that were applied. Processes that see the same within a minute write one row.
CREATE TABLE service_events (
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

-- Notes of operators for the next operator. The number is the place of a note among the notes of its subject, which are
-- bounded.
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
