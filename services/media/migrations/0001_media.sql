-- Times are milliseconds since 1970; flags are 0 or 1.

-- Stored content: one row for each digest, however many objects claim it. Content becomes garbage when both of its
-- times are over and no object claims it.
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  -- The key in the blob storage.
  storage_key TEXT NOT NULL UNIQUE,
  bytes BIGINT NOT NULL,
  -- What the probe measured, as JSON. Null: it was not probed.
  facts TEXT,
  -- The latest end of its pins.
  pinned_until BIGINT NOT NULL,
  -- The latest end of the claims to it.
  keep_until BIGINT NOT NULL
);

CREATE INDEX blobs_by_keep_until ON blobs (keep_until);

-- Claims to content. An ended claim stays for a while as a row with `removed_at`, so that an expired result can be told
-- from an unknown one.
CREATE TABLE objects (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  -- staged, result, thumbnail, last_frame, inline or private.
  purpose TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  -- The digest of the reference that a staged object was fetched from.
  reference TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  removed_at BIGINT
);

CREATE UNIQUE INDEX objects_results ON objects (task_id) WHERE purpose = 'result';

CREATE UNIQUE INDEX objects_staged ON objects (account_id, task_id, reference) WHERE purpose = 'staged';

-- The picture that stands for a result. It is removed together with the result.
CREATE UNIQUE INDEX objects_thumbnails ON objects (task_id) WHERE purpose = 'thumbnail';

-- The picture of the last frame of a video, as its generator rendered it.
CREATE UNIQUE INDEX objects_last_frames ON objects (task_id) WHERE purpose = 'last_frame';

-- The bytes that an account has sent inside its requests.
CREATE INDEX objects_inline ON objects (account_id) WHERE purpose = 'inline';

CREATE INDEX objects_by_sha256 ON objects (sha256);

-- The last entry of a digest is the latest end of the claims to it, however many there are.
CREATE INDEX objects_ends ON objects (sha256, expires_at) WHERE removed_at IS NULL;

CREATE INDEX objects_by_expiry ON objects (expires_at) WHERE removed_at IS NULL;

CREATE INDEX objects_by_removal ON objects (removed_at) WHERE removed_at IS NOT NULL;

-- Uploads that protect content until it is claimed. `blobs.pinned_until` is the latest of them.
CREATE TABLE pins (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  pinned_until BIGINT NOT NULL
);

-- The last entry of a digest is the latest end of its pins.
CREATE INDEX pins_ends ON pins (sha256, pinned_until);

CREATE INDEX pins_by_end ON pins (pinned_until);

-- Storage keys that still have bytes to remove. No content is ever stored under them again.
CREATE TABLE garbage (
  storage_key TEXT PRIMARY KEY
);

-- Tasks whose media are being staged. An ended row blocks further staging for its task.
CREATE TABLE stagings (
  account_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  -- 1: the staging has ended.
  ended BIGINT NOT NULL,
  forget_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, task_id)
);

CREATE INDEX stagings_by_end ON stagings (forget_at);

-- Bytes that are about to be stored for an account. They are counted before they arrive.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX uploads_by_account ON uploads (account_id);

CREATE INDEX uploads_by_end ON uploads (expires_at);

-- The row that serializes the uploads of an account, so that each upload sees the ones before it.
CREATE TABLE uploaders (
  account_id TEXT PRIMARY KEY
);

-- Files of clients. The bytes of a file are a private object with the same id. A row that is not committed is a
-- reservation: `bytes` is the most that may arrive, and the reservation ends at `expires_at`.
CREATE TABLE files (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  -- The account's own unique name for the file. Null: the account gave no name.
  file_key TEXT,
  token_id TEXT NOT NULL,
  filename TEXT NOT NULL,
  -- The purpose that the client named.
  purpose TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  -- 1: its bytes are stored.
  committed BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX files_by_account ON files (account_id, id);

CREATE UNIQUE INDEX files_by_key ON files (account_id, file_key) WHERE file_key IS NOT NULL;

CREATE INDEX files_by_expiry ON files (expires_at);
