-- The W3C `traceparent` under which the work of a sampled task or job goes on, and the span that its own span belongs to.
-- Null: its create was not sampled.
ALTER TABLE tasks ADD COLUMN trace TEXT;

ALTER TABLE tasks ADD COLUMN trace_parent TEXT;

ALTER TABLE jobs ADD COLUMN trace TEXT;

ALTER TABLE jobs ADD COLUMN trace_parent TEXT;

-- The `traceparent` of the fact that an event reports.
ALTER TABLE outbox ADD COLUMN trace TEXT;

-- How many polls of a task were written, and how many of them have a span.
ALTER TABLE tasks ADD COLUMN polls INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tasks ADD COLUMN poll_spans INTEGER NOT NULL DEFAULT 0;

-- Whether the process that polled a task left it before its poll was written.
ALTER TABLE tasks ADD COLUMN resumed INTEGER NOT NULL DEFAULT 0;
