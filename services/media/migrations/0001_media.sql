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
CREATE INDEX objects_by_sha256 ON objects (sha256);
CREATE INDEX objects_by_expiry ON objects (expires_at) WHERE removed_at IS NULL;
CREATE INDEX objects_by_removal ON objects (removed_at) WHERE removed_at IS NOT NULL;

-- Keys whose bytes are still to be removed. No content is ever put under them again.
CREATE TABLE garbage (
  storage_key TEXT PRIMARY KEY
);
