-- A counter with a large limit is spread over shards, so that creates and ends do not all wait for one row. A shard counts
-- as many tasks as it has permits. The row of the counter counts the permits of its shards as taken, so a process that knows
-- of no shards still keeps the limit. What is in flight is the sum of `count - permits` over the counter and its shards.
ALTER TABLE in_flight ADD COLUMN permits BIGINT NOT NULL DEFAULT 0;

ALTER TABLE in_flight ADD COLUMN shard_of TEXT;

CREATE INDEX in_flight_shards ON in_flight (shard_of) WHERE shard_of IS NOT NULL;

-- The shards in which a task or a job is counted, as a JSON list; where it names none, the counter itself.
ALTER TABLE tasks ADD COLUMN shards_json TEXT;

ALTER TABLE jobs ADD COLUMN shards_json TEXT;
