-- What an event goes back to, for the spans and the log lines of its deliveries: the request that created its task or
-- job, the W3C `traceparent` under which the work of it goes on, and when it was created. Null: it has none, or the
-- release before wrote the row.
ALTER TABLE events ADD COLUMN request_id TEXT;

ALTER TABLE events ADD COLUMN trace TEXT;

ALTER TABLE events ADD COLUMN work_created_at BIGINT;
