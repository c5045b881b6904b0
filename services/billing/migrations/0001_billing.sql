-- Amounts are billionths of a currency unit, times are milliseconds since 1970.
-- A single amount is at most 10^18 and a running total at most 4 * 10^18: the sum of two always fits 64 bits, and the checks below
-- stop a row that would leave these bounds.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  currency TEXT NOT NULL,
  balance_nanos BIGINT NOT NULL CHECK (balance_nanos BETWEEN -4000000000000000000 AND 4000000000000000000),
  held_nanos BIGINT NOT NULL CHECK (held_nanos BETWEEN 0 AND 4000000000000000000),
  created_at BIGINT NOT NULL
);

-- key_hash is the keyed hash of the key; origin names the place in the configuration for which a key was made, once.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  models TEXT NOT NULL,
  limit_nanos BIGINT,
  used_nanos BIGINT NOT NULL CHECK (used_nanos BETWEEN 0 AND 4000000000000000000),
  key_hash TEXT NOT NULL UNIQUE,
  origin TEXT UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account_id);

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
CREATE INDEX financial_events_by_task ON financial_events (task_id);

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
