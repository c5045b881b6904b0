-- The latest end of the claims and of the pins of one content is the last entry here, however many there are.
CREATE INDEX objects_ends ON objects (sha256, expires_at) WHERE removed_at IS NULL;
CREATE INDEX pins_ends ON pins (sha256, pinned_until);
DROP INDEX pins_by_sha256;
