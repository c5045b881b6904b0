-- Times are milliseconds since 1970.

-- Content, once however many objects claim it. It becomes garbage when both times are over and no object is left.
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  storage_key TEXT NOT NULL UNIQUE,
  bytes BIGINT NOT NULL,
  facts TEXT,
  pinned_until BIGINT NOT NULL,
  keep_until BIGINT NOT NULL
);
CREATE INDEX blobs_by_keep_until ON blobs (keep_until);

-- Claims to content. An ended result stays for a while as a row with removed_at, so that it can be told from one that never was.
CREATE TABLE objects (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  reference TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  removed_at BIGINT
);
CREATE UNIQUE INDEX objects_results ON objects (task_id) WHERE purpose = 'result';
CREATE UNIQUE INDEX objects_staged ON objects (account_id, task_id, reference) WHERE purpose = 'staged';
-- The still pictures that stand for results: one a task, and gone with it.
CREATE UNIQUE INDEX objects_posters ON objects (task_id) WHERE purpose = 'poster';
-- How much an account has sent within its requests.
CREATE INDEX objects_inline ON objects (account_id) WHERE purpose = 'inline';
CREATE INDEX objects_by_sha256 ON objects (sha256);
-- The latest end of the claims to one content is the last entry here, however many there are.
CREATE INDEX objects_ends ON objects (sha256, expires_at) WHERE removed_at IS NULL;
CREATE INDEX objects_by_expiry ON objects (expires_at) WHERE removed_at IS NULL;
CREATE INDEX objects_by_removal ON objects (removed_at) WHERE removed_at IS NOT NULL;

-- One row for each upload that protects content until it is claimed. blobs.pinned_until is the latest of them.
CREATE TABLE pins (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  pinned_until BIGINT NOT NULL
);
-- The latest end of the pins of one content is the last entry here.
CREATE INDEX pins_ends ON pins (sha256, pinned_until);
CREATE INDEX pins_by_end ON pins (pinned_until);

-- Keys whose bytes are still to be removed. No content is ever put under them again.
CREATE TABLE garbage (
  storage_key TEXT PRIMARY KEY
);

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
