-- only: a new embedded store
-- Each commit writes a page of every table and index that it touches. A table without row ids is one tree with its key.
DROP TABLE attempts;

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
) WITHOUT ROWID;
