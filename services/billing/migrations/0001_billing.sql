-- Amounts are billionths of a currency unit, times are milliseconds since 1970.
-- A single amount is at most 10^18 and a running total at most 4 * 10^18: the sum of two always fits 64 bits, and the checks
-- below stop a row that would leave these bounds.

-- low_credit_key is the key of the last credit that was announced to have run low, empty if none was; low_repeat_at is when
-- that is announced again, empty if it is not.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  currency TEXT NOT NULL,
  balance_nanos BIGINT NOT NULL CHECK (balance_nanos BETWEEN -4000000000000000000 AND 4000000000000000000),
  held_nanos BIGINT NOT NULL CHECK (held_nanos BETWEEN 0 AND 4000000000000000000),
  created_at BIGINT NOT NULL,
  low_credit_key TEXT,
  low_repeat_at BIGINT
);

-- key_hash is the keyed hash of the key; origin names the place in the configuration for which a key was made, once.
-- A limit of a token's own is empty where the configured number holds. webhooks and token_right are what a token may do with
-- webhooks and with the tokens of its account: write, read or none; empty is write for webhooks and none for tokens.
-- made_by_token_id is the token that made it, empty if an operator or the configuration did.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  models TEXT NOT NULL,
  limit_nanos BIGINT,
  used_nanos BIGINT NOT NULL CHECK (used_nanos BETWEEN 0 AND 4000000000000000000),
  creates_per_minute INTEGER CHECK (creates_per_minute > 0),
  reads_per_minute INTEGER CHECK (reads_per_minute > 0),
  calls_per_minute INTEGER CHECK (calls_per_minute > 0),
  in_flight INTEGER CHECK (in_flight > 0),
  webhooks TEXT,
  token_right TEXT,
  made_by_token_id TEXT,
  key_hash TEXT NOT NULL UNIQUE,
  origin TEXT UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account_id);
-- The spending limit of a maker bounds the tokens that it made all together, and their revocation follows its own.
CREATE INDEX tokens_by_maker ON tokens (made_by_token_id) WHERE made_by_token_id IS NOT NULL;

-- current_version is empty while the configuration has no price under the key.
CREATE TABLE price_keys (
  price_key TEXT PRIMARY KEY,
  last_version INTEGER NOT NULL,
  current_version INTEGER
);

CREATE TABLE price_contracts (
  price_key TEXT NOT NULL,
  version INTEGER NOT NULL,
  terms TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  PRIMARY KEY (price_key, version)
);

-- One row for each event that moved money; append-only. A void has no lines: its key keeps a late hold from being placed.
CREATE TABLE financial_events (
  event_key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT,
  task_id TEXT,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  occurred_at BIGINT NOT NULL
);
-- The events of credits and of batches of calls belong to no task: the index leaves them out, and writing them costs one page
-- less.
CREATE INDEX financial_events_by_task ON financial_events (task_id) WHERE task_id IS NOT NULL;
-- The credits of an account by their time: a count of accounts with little money left finds the last one. No hold, call or
-- settlement writes to it.
CREATE INDEX financial_events_credits ON financial_events (account_id, occurred_at) WHERE kind = 'credit';

-- Append-only; the lines of one event sum to zero.
CREATE TABLE ledger_lines (
  event_key TEXT NOT NULL REFERENCES financial_events (event_key),
  book TEXT NOT NULL,
  currency TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN -1000000000000000000 AND 1000000000000000000),
  PRIMARY KEY (event_key, book)
);

-- state is open, settled or released. The facts are frozen; used_* is what the upstream reported at the end, as far as it did.
CREATE TABLE holds (
  task_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN 0 AND 1000000000000000000),
  currency TEXT NOT NULL,
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
  state TEXT NOT NULL,
  basis TEXT,
  charged_nanos BIGINT,
  ended_at BIGINT,
  used_seconds BIGINT,
  used_input_tokens BIGINT,
  used_output_tokens BIGINT,
  deferred_nanos BIGINT,
  deferred_at BIGINT
);
CREATE INDEX holds_open ON holds (placed_at, task_id) WHERE state = 'open';
-- For the parts of an hour at the ends of a statement's time.
CREATE INDEX holds_ended ON holds (account_id, ended_at) WHERE state = 'settled';

-- The synchronous routes: one row for each call, written when it is placed and once more when it ends.
-- A call is open while ended_at is empty. The facts are frozen; used_* is what the upstream reported, uncharged_nanos what its
-- usage came to above the charge. placed_in and ended_in name the batches, whose events are `hold_calls:{batch}:{account}` and
-- `settle_calls:{batch}:{account}`. A release that came before its call is a row of its own without an account: nothing can be
-- placed there.
-- Neither an amount nor a charge is above 10^15, so a batch of a thousand never leaves the bounds of a ledger line.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN 0 AND 1000000000000000),
  currency TEXT NOT NULL,
  price_key TEXT NOT NULL,
  price_version INTEGER NOT NULL,
  seconds BIGINT NOT NULL,
  images BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  placed_at BIGINT NOT NULL,
  lapses_at BIGINT NOT NULL,
  placed_in TEXT NOT NULL,
  basis TEXT,
  charged_nanos BIGINT CHECK (charged_nanos BETWEEN 0 AND 1000000000000000),
  uncharged_nanos BIGINT,
  ended_at BIGINT,
  ended_in TEXT,
  used_seconds BIGINT,
  used_images BIGINT,
  used_input_tokens BIGINT,
  used_cached_input_tokens BIGINT,
  used_output_tokens BIGINT,
  used_characters BIGINT
);
CREATE INDEX calls_open ON calls (lapses_at, id) WHERE ended_at IS NULL;
CREATE INDEX calls_ended ON calls (account_id, ended_at) WHERE ended_at IS NOT NULL;

-- The batches of calls that were answered before they were durable, and are not confirmed yet. No client has seen an answer to
-- such a call, so it lapses uncharged. There are as many rows as there are requests under way, so no index is needed.
CREATE TABLE unconfirmed_batches (
  batch_id TEXT NOT NULL,
  lapses_at BIGINT NOT NULL
);

-- Charges hour by hour (the time of settlement, in milliseconds since 1970 at the hour's beginning): a statement reads these
-- instead of every hold and call. They are written in the transaction of the settlement.
CREATE TABLE usage_hours (
  account_id TEXT NOT NULL,
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
  PRIMARY KEY (account_id, hour, token_id, price_key)
);
-- The charges of every account in a period. An hour of a token is written once and then only added to, so few settlements write
-- to it.
CREATE INDEX usage_hours_by_hour ON usage_hours (hour);

-- Estimates for operators, hour by hour. Each process writes its own rows, whole, so that a repeated write changes nothing.
-- requests, charged_nanos and cost_nanos are those of work whose channel has an upstream price; channel is empty where none is
-- known.
CREATE TABLE money_hours (
  hour BIGINT NOT NULL,
  process TEXT NOT NULL,
  channel TEXT NOT NULL,
  price_key TEXT NOT NULL,
  currency TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  cost_nanos BIGINT NOT NULL,
  overruns BIGINT NOT NULL,
  overrun_nanos BIGINT NOT NULL,
  lapses BIGINT NOT NULL,
  PRIMARY KEY (hour, process, channel, price_key, currency)
);

-- The outcomes of the last checks of the whole ledger, faults as a list of sentences.
CREATE TABLE ledger_checks (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  is_ok BIGINT NOT NULL,
  entries BIGINT NOT NULL,
  faults_json TEXT NOT NULL,
  actor TEXT NOT NULL
);

-- What operators did, and tokens with other tokens. Written in the transaction that does it; later acts have greater ids.
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

-- One row. Every ending raises the version in its transaction, which locks the row, so that versions are committed in their
-- order. Every session that began before the version all_before has ended.
CREATE TABLE session_versions (
  id BIGINT PRIMARY KEY,
  version BIGINT NOT NULL,
  all_before BIGINT NOT NULL
);
INSERT INTO session_versions (id, version, all_before) VALUES (1, 1, 0);

-- The sessions of the consoles that ended before their time, by the digest of their id. Where the digest is empty and
-- expires_at absent, all sessions of the subject that began before the version have ended.
CREATE TABLE ended_sessions (
  subject TEXT NOT NULL,
  digest TEXT NOT NULL,
  version BIGINT NOT NULL,
  expires_at BIGINT,
  PRIMARY KEY (subject, digest)
);
CREATE INDEX ended_sessions_by_version ON ended_sessions (version);
