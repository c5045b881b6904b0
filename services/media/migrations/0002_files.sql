-- Files of clients. Their bytes are private objects with the same ids. A row that is not committed is a reservation:
-- its bytes are the most that may come, and it ends at expires_at.
CREATE TABLE files (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  -- The name that the account has for this file alone, if there is one.
  file_key TEXT,
  token_id TEXT NOT NULL,
  filename TEXT NOT NULL,
  purpose TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  committed BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX files_by_account ON files (account_id, id);
CREATE UNIQUE INDEX files_by_key ON files (account_id, file_key) WHERE file_key IS NOT NULL;
CREATE INDEX files_by_expiry ON files (expires_at);
