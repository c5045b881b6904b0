-- Calls of synchronous routes that are made later. Counters, idempotency keys, events and attention are those of the tasks.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  -- Models that the token could use, as a JSON list.
  models_json TEXT NOT NULL,
  -- Names the request that created it.
  request_id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  model TEXT NOT NULL,
  -- Whether a second call does no harm.
  repeatable INTEGER NOT NULL,
  -- queued, in_progress, completed or failed.
  state TEXT NOT NULL,
  -- When it may be worked on; null while somebody does, and when it has ended.
  due_at BIGINT,
  -- Names one taking of the job; who cannot name it changes nothing.
  lease TEXT,
  lease_until BIGINT,
  worker TEXT,
  -- How often its upstream was about to be called.
  starts INTEGER NOT NULL DEFAULT 0,
  -- How many calls billing has settled under its name.
  settled_calls INTEGER NOT NULL DEFAULT 0,
  -- Private media objects that it claims.
  body_object TEXT,
  answer_object TEXT,
  answer_json TEXT,
  failure_json TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  finished_at BIGINT
);

CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX jobs_unfinished ON jobs (state, created_at) WHERE finished_at IS NULL;

CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX jobs_spent ON jobs (finished_at) WHERE finished_at IS NOT NULL AND body_object IS NOT NULL;

-- The frozen request of a job, for as long as it may still be made: apart, so that a job's moves do not carry it along.
CREATE TABLE job_calls (
  job_id TEXT PRIMARY KEY,
  call_json TEXT NOT NULL
);
