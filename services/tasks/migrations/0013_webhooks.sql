-- The URL that the request carried, for the event of its end. Null: it had none.
ALTER TABLE tasks ADD COLUMN webhook_url TEXT;

ALTER TABLE jobs ADD COLUMN webhook_url TEXT;

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
  seq BIGINT
);

CREATE INDEX events_undispatched ON events (created_at, id) WHERE seq IS NULL;

CREATE UNIQUE INDEX events_by_seq ON events (seq) WHERE seq IS NOT NULL;

CREATE INDEX events_by_account ON events (account_id, seq) WHERE seq IS NOT NULL;

-- The last place that was given. Its row is the lock of the dispatch.
CREATE TABLE event_sequence (
  id INTEGER PRIMARY KEY,
  last BIGINT NOT NULL
);

INSERT INTO event_sequence (id, last) VALUES (1, 0);

-- How many endpoints an account has. Its row is the lock of a create.
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
  -- When its first delivery is due, or its circuit lets the next one through, or its lease ends. Null: nothing is due.
  due_at BIGINT,
  -- Names one taking; who cannot name it changes nothing.
  lease TEXT,
  lease_until BIGINT,
  -- Attempts that failed in a row, and since when.
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since BIGINT,
  -- Until then no attempt begins.
  open_until BIGINT,
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
  -- How many of the attempts belong to an earlier sending: a resent delivery begins its schedule anew.
  attempts_before INTEGER NOT NULL DEFAULT 0,
  -- Null: no attempt is to follow. A pending delivery always has one.
  due_at BIGINT,
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
