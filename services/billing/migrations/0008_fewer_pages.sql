-- only: a new embedded store
-- Each commit writes a page of every table and index that it touches. A table without row ids is one tree with its key.
DROP TABLE ledger_lines;

DROP TABLE financial_events;

-- The events of a task are found by their keys, so there is no index of tasks.
CREATE TABLE financial_events (
  event_key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT,
  task_id TEXT,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  occurred_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX financial_events_credits ON financial_events (account_id, occurred_at) WHERE kind = 'credit';

CREATE TABLE ledger_lines (
  event_key TEXT NOT NULL REFERENCES financial_events (event_key),
  book TEXT NOT NULL,
  currency TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN -1000000000000000000 AND 1000000000000000000),
  PRIMARY KEY (event_key, book)
) WITHOUT ROWID;

-- Few holds are placed in the same millisecond, and their order is found without their tasks in the index.
DROP INDEX holds_open;

CREATE INDEX holds_open ON holds (placed_at) WHERE state = 'open';
