-- One row for each upload that protects content until it is claimed. blobs.pinned_until is the latest of them.
CREATE TABLE pins (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  pinned_until BIGINT NOT NULL
);
CREATE INDEX pins_by_sha256 ON pins (sha256);
CREATE INDEX pins_by_end ON pins (pinned_until);

-- Tasks for which media are being staged. A row that has ended lets no further object be staged for its task.
CREATE TABLE stagings (
  account_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  ended BIGINT NOT NULL,
  forget_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, task_id)
);
CREATE INDEX stagings_by_end ON stagings (forget_at);

-- Bytes that are about to be kept for an account, counted before they come.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_by_account ON uploads (account_id);
CREATE INDEX uploads_by_end ON uploads (expires_at);

-- The row that uploads of one account wait at, so that each sees the ones before it.
CREATE TABLE uploaders (
  account_id TEXT PRIMARY KEY
);
