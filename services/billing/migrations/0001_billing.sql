-- Amounts (`…_nanos`) are billionths of a currency unit, times are milliseconds since 1970; JSON is text. A single
-- amount is at most 10^18 and a running total at most 4 * 10^18: the sum of two always fits 64 bits. The checks below
-- refuse a row that would leave these bounds.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  currency TEXT NOT NULL,
  -- What it has been credited less what it was charged.
  balance_nanos BIGINT NOT NULL CHECK (balance_nanos BETWEEN -4000000000000000000 AND 4000000000000000000),
  -- The part of the balance that open holds and calls reserve.
  held_nanos BIGINT NOT NULL CHECK (held_nanos BETWEEN 0 AND 4000000000000000000),
  created_at BIGINT NOT NULL,
  -- The event key of the last credit that was announced to have run low. Null: none was announced.
  low_credit_key TEXT,
  -- The time at which that is announced again. Null: it is not.
  low_repeat_at BIGINT
);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The names of the models that it may use, as a JSON list; `*` is every model.
  models TEXT NOT NULL,
  -- The spending limit. Null: there is none.
  limit_nanos BIGINT,
  -- What open holds and calls reserve and ended ones were charged.
  used_nanos BIGINT NOT NULL CHECK (used_nanos BETWEEN 0 AND 4000000000000000000),
  -- Limits of its own. Null: the configured limit holds.
  creates_per_minute INTEGER CHECK (creates_per_minute > 0),
  reads_per_minute INTEGER CHECK (reads_per_minute > 0),
  calls_per_minute INTEGER CHECK (calls_per_minute > 0),
  in_flight INTEGER CHECK (in_flight > 0),
  -- Its rights on the webhooks and on the tokens of its account: write, read or none.
  webhooks TEXT NOT NULL DEFAULT 'write',
  token_right TEXT NOT NULL DEFAULT 'none',
  -- The token that created it. Null: an operator or the configuration did.
  made_by_token_id TEXT,
  -- The keyed hash of its key.
  key_hash TEXT NOT NULL UNIQUE,
  -- The place in the configuration for which its key was generated, once. Null: it has no such place.
  origin TEXT UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT,
  -- How its tasks wait for a channel, and in which class.
  queue_wait TEXT NOT NULL DEFAULT 'channels',
  queue_class TEXT NOT NULL DEFAULT 'standard',
  -- The label of its orders whose requests have none. Empty: none.
  label TEXT NOT NULL DEFAULT '',
  -- The last characters of its key, by which people recognise it. Empty: the key is too short to show a part of it.
  hint TEXT NOT NULL DEFAULT '',
  -- An order of an agent above this price waits for a person. Null: no order does.
  confirm_above_nanos BIGINT
);

CREATE INDEX tokens_by_account ON tokens (account_id);

-- The spending limit of a token bounds all tokens that it created together, and its revocation revokes them.
CREATE INDEX tokens_by_maker ON tokens (made_by_token_id) WHERE made_by_token_id IS NOT NULL;

CREATE INDEX tokens_by_hint ON tokens (hint, created_at, id) WHERE hint <> '';

CREATE TABLE price_keys (
  price_key TEXT PRIMARY KEY,
  last_version INTEGER NOT NULL,
  -- Null: the configuration has no price under the key.
  current_version INTEGER
);

-- The versions of a price. A hold is settled by the version that it was placed under.
CREATE TABLE price_contracts (
  price_key TEXT NOT NULL,
  version INTEGER NOT NULL,
  terms TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  PRIMARY KEY (price_key, version)
);

-- Events that moved money; append-only. A void has no lines: its key blocks a late hold.
CREATE TABLE financial_events (
  event_key TEXT PRIMARY KEY,
  -- credit, hold, extend, settle, release, void, hold_calls or settle_calls.
  kind TEXT NOT NULL,
  account_id TEXT,
  -- Null: a credit, or a batch of calls. The events of a task are found by their keys.
  task_id TEXT,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  occurred_at BIGINT NOT NULL
) WITHOUT ROWID;

-- The last credit of each account, for the count of accounts with little money left. No hold, call or settlement writes
-- to it.
CREATE INDEX financial_events_credits ON financial_events (account_id, occurred_at) WHERE kind = 'credit';

-- The double entries of the events; append-only. The lines of one event sum to zero.
CREATE TABLE ledger_lines (
  event_key TEXT NOT NULL REFERENCES financial_events (event_key),
  book TEXT NOT NULL,
  currency TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN -1000000000000000000 AND 1000000000000000000),
  PRIMARY KEY (event_key, book)
) WITHOUT ROWID;

-- The amounts that are reserved for tasks, and how they ended.
CREATE TABLE holds (
  task_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN 0 AND 1000000000000000000),
  -- The most that the task is charged. Null: there is no bound.
  max_amount_nanos BIGINT
    CHECK (amount_nanos <= max_amount_nanos AND COALESCE(charged_nanos, 0) <= max_amount_nanos),
  currency TEXT NOT NULL,
  -- The word by which its client accounts for the task. Empty: none.
  label TEXT NOT NULL DEFAULT '',
  -- The frozen price and the frozen facts that it depends on.
  price_key TEXT NOT NULL,
  price_version INTEGER NOT NULL,
  resolution TEXT NOT NULL,
  seconds BIGINT NOT NULL,
  input_video_seconds BIGINT NOT NULL,
  images BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  characters BIGINT NOT NULL DEFAULT 0,
  placed_at BIGINT NOT NULL,
  -- open, settled or released.
  state TEXT NOT NULL,
  -- The source of the charge: usage, estimate or hold.
  basis TEXT,
  charged_nanos BIGINT,
  ended_at BIGINT,
  -- The usage that the upstream reported. Null: not reported.
  used_seconds BIGINT,
  used_input_tokens BIGINT,
  used_output_tokens BIGINT,
  -- A charge that waits for the decision of an operator (null: it cannot be computed), and since when.
  deferred_nanos BIGINT,
  deferred_at BIGINT,
  -- What the work cost at its upstream: as the upstream reported it, in millionths of a US dollar, and by the upstream
  -- price of its channel, in the currency of the hold. Null: not known.
  reported_cost_micro_usd BIGINT,
  estimated_cost_nanos BIGINT
);

-- Few holds are placed in the same millisecond, so the index does without their tasks.
CREATE INDEX holds_open ON holds (placed_at) WHERE state = 'open';

-- The settled tasks of the partial hours at both ends of a statement.
CREATE INDEX holds_ended ON holds (account_id, ended_at) WHERE state = 'settled';

-- Calls of synchronous routes: a row is written when a call is placed, and once more when it ends.
-- A release that arrives before its call is a row without an account: no call can be placed under its id.
-- Neither an amount nor a charge is above 10^15, so a batch of a thousand stays within the bounds of a ledger line.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN 0 AND 1000000000000000),
  currency TEXT NOT NULL,
  -- The word by which its client accounts for the call. Empty: none.
  label TEXT NOT NULL DEFAULT '',
  -- The frozen price and the frozen facts that it depends on.
  price_key TEXT NOT NULL,
  price_version INTEGER NOT NULL,
  seconds BIGINT NOT NULL,
  images BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  placed_at BIGINT NOT NULL,
  lapses_at BIGINT NOT NULL,
  -- The batch that placed it. Its event is `hold_calls:{batch}:{account}`.
  placed_in TEXT NOT NULL,
  -- The source of the charge: usage, estimate or hold; released without a charge.
  basis TEXT,
  charged_nanos BIGINT CHECK (charged_nanos BETWEEN 0 AND 1000000000000000),
  -- What its usage came to above the charge.
  uncharged_nanos BIGINT,
  -- Null: the call is open.
  ended_at BIGINT,
  -- The batch that ended it. Its event is `settle_calls:{batch}:{account}`.
  ended_in TEXT,
  -- The usage that the upstream reported. Null: not reported.
  used_seconds BIGINT,
  used_images BIGINT,
  used_input_tokens BIGINT,
  used_cached_input_tokens BIGINT,
  used_output_tokens BIGINT,
  used_characters BIGINT,
  -- The parts of its tokens and its searches, as a JSON object of counts by name.
  used_parts TEXT
);

CREATE INDEX calls_open ON calls (lapses_at, id) WHERE ended_at IS NULL;

CREATE INDEX calls_ended ON calls (account_id, ended_at) WHERE ended_at IS NOT NULL;

-- Batches of calls that were answered before they were durable, and are not confirmed yet. No client has seen an answer
-- to such a call, so it lapses uncharged. There are as many rows as requests under way, so no index is needed.
CREATE TABLE unconfirmed_batches (
  batch_id TEXT NOT NULL,
  lapses_at BIGINT NOT NULL
);

-- Charges by the hour of their settlement, written in its transaction. A statement reads these instead of every hold
-- and call.
CREATE TABLE usage_hours (
  account_id TEXT NOT NULL,
  -- The beginning of the hour.
  hour BIGINT NOT NULL,
  token_id TEXT NOT NULL,
  price_key TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  seconds BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  cached_input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  images BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  -- The parts of the tokens that upstreams reported, and the searches.
  cache_write_tokens BIGINT NOT NULL DEFAULT 0,
  cache_write_1h_tokens BIGINT NOT NULL DEFAULT 0,
  audio_input_tokens BIGINT NOT NULL DEFAULT 0,
  cached_audio_tokens BIGINT NOT NULL DEFAULT 0,
  image_input_tokens BIGINT NOT NULL DEFAULT 0,
  cached_image_tokens BIGINT NOT NULL DEFAULT 0,
  reasoning_tokens BIGINT NOT NULL DEFAULT 0,
  audio_output_tokens BIGINT NOT NULL DEFAULT 0,
  image_output_tokens BIGINT NOT NULL DEFAULT 0,
  searches BIGINT NOT NULL DEFAULT 0,
  -- The charged work whose cost at its upstream is known. A rebuild of the hours leaves these columns as they are.
  costed_requests BIGINT NOT NULL DEFAULT 0,
  costed_charged_nanos BIGINT NOT NULL DEFAULT 0,
  cost_nanos BIGINT NOT NULL DEFAULT 0,
  -- The part of it whose cost the upstream reported. The rest is estimated by an upstream price.
  reported_requests BIGINT NOT NULL DEFAULT 0,
  reported_charged_nanos BIGINT NOT NULL DEFAULT 0,
  reported_cost_nanos BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, hour, token_id, price_key)
);

-- The charges of all accounts in a period. An hour of a token is inserted once and then only updated, so few
-- settlements write to the index.
CREATE INDEX usage_hours_by_hour ON usage_hours (hour);

-- The part of `usage_hours` that has a label, written in the same transaction. Work without a label has no row.
CREATE TABLE label_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  label TEXT NOT NULL,
  token_id TEXT NOT NULL,
  price_key TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  seconds BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  cached_input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  images BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL DEFAULT 0,
  cache_write_1h_tokens BIGINT NOT NULL DEFAULT 0,
  audio_input_tokens BIGINT NOT NULL DEFAULT 0,
  cached_audio_tokens BIGINT NOT NULL DEFAULT 0,
  image_input_tokens BIGINT NOT NULL DEFAULT 0,
  cached_image_tokens BIGINT NOT NULL DEFAULT 0,
  reasoning_tokens BIGINT NOT NULL DEFAULT 0,
  audio_output_tokens BIGINT NOT NULL DEFAULT 0,
  image_output_tokens BIGINT NOT NULL DEFAULT 0,
  searches BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, hour, label, token_id, price_key)
);

-- Failed tasks that their upstream charged, in the currency of the account. No statement shows them.
CREATE TABLE failed_cost_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  cost_nanos BIGINT NOT NULL,
  PRIMARY KEY (account_id, hour)
);

-- Estimates for operators, by the hour. Each process writes its own rows whole, so a repeated write changes nothing.
CREATE TABLE money_hours (
  hour BIGINT NOT NULL,
  process TEXT NOT NULL,
  -- Empty: no channel is known.
  channel TEXT NOT NULL,
  price_key TEXT NOT NULL,
  currency TEXT NOT NULL,
  -- The work whose cost at its upstream is known, also failed tasks that an upstream charged.
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  cost_nanos BIGINT NOT NULL,
  -- The part of it whose cost the upstream reported. The rest is estimated by an upstream price.
  reported_requests BIGINT NOT NULL,
  reported_charged_nanos BIGINT NOT NULL,
  reported_cost_nanos BIGINT NOT NULL,
  -- The charged work without a known cost.
  uncosted_requests BIGINT NOT NULL,
  uncosted_charged_nanos BIGINT NOT NULL,
  -- Settlements whose usage came to more than the charge, and by how much.
  overruns BIGINT NOT NULL,
  overrun_nanos BIGINT NOT NULL,
  -- Calls that ended by their time.
  lapses BIGINT NOT NULL,
  PRIMARY KEY (hour, process, channel, price_key, currency)
);

-- The results of the last checks of the whole ledger.
CREATE TABLE ledger_checks (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  is_ok BIGINT NOT NULL,
  entries BIGINT NOT NULL,
  -- A list of sentences.
  faults_json TEXT NOT NULL,
  actor TEXT NOT NULL
);

-- Acts of operators, and of tokens on other tokens. An act is written in the transaction of the change; later acts have
-- greater ids.
CREATE TABLE operator_acts (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail_json TEXT NOT NULL
);

CREATE INDEX operator_acts_by_subject ON operator_acts (subject, id);

-- One row. Each end of a session raises the version in its transaction, which locks the row, so versions are committed
-- in their order.
CREATE TABLE session_versions (
  id BIGINT PRIMARY KEY,
  version BIGINT NOT NULL,
  -- Every session that began before this version has ended.
  all_before BIGINT NOT NULL
);

INSERT INTO session_versions (id, version, all_before) VALUES (1, 1, 0);

-- Sessions of the consoles that ended before their time.
CREATE TABLE ended_sessions (
  subject TEXT NOT NULL,
  -- The digest of the id of the session. Empty, with `expires_at` null: all sessions of the subject that began before
  -- the version have ended.
  digest TEXT NOT NULL,
  version BIGINT NOT NULL,
  expires_at BIGINT,
  PRIMARY KEY (subject, digest)
);

CREATE INDEX ended_sessions_by_version ON ended_sessions (version);
