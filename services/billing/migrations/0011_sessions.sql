-- One row. Every ending raises the version in its transaction, which locks the row, so that versions are committed in their order. Every
-- session that began before the version all_before has ended.
CREATE TABLE session_versions (
  id BIGINT PRIMARY KEY,
  version BIGINT NOT NULL,
  all_before BIGINT NOT NULL
);
INSERT INTO session_versions (id, version, all_before) VALUES (1, 1, 0);

-- The sessions of the consoles that ended before their time, by the digest of their id. Where the digest is empty and expires_at absent, all
-- sessions of the subject that began before the version have ended.
CREATE TABLE ended_sessions (
  subject TEXT NOT NULL,
  digest TEXT NOT NULL,
  version BIGINT NOT NULL,
  expires_at BIGINT,
  PRIMARY KEY (subject, digest)
);
CREATE INDEX ended_sessions_by_version ON ended_sessions (version);
