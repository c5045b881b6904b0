-- Many creates under one id, each a line of a file of the client.
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  request_id TEXT,
  endpoint TEXT NOT NULL,
  input_file_id TEXT NOT NULL,
  metadata_json TEXT NOT NULL,
  output_expires_after_ms BIGINT,
  -- The bound of what its lines may hold and be charged together, in billionths. Null: there is none.
  max_nanos BIGINT,
  -- reading, running, writing or ended.
  phase TEXT NOT NULL,
  -- completed, failed, expired or cancelled: how it ends, from the time at which that is decided.
  outcome TEXT,
  model TEXT,
  -- Its lines, those whose task completed, and those that ended without a result. The transaction that changes a line
  -- changes them.
  total BIGINT NOT NULL DEFAULT 0,
  completed BIGINT NOT NULL DEFAULT 0,
  failed BIGINT NOT NULL DEFAULT 0,
  -- What its lines that have begun cost at most, in billionths.
  reserved_nanos BIGINT NOT NULL DEFAULT 0,
  faults_json TEXT,
  output_file_id TEXT,
  error_file_id TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  running_at BIGINT,
  writing_at BIGINT,
  cancelling_at BIGINT,
  ended_at BIGINT,
  -- The time at which a worker takes it. While one has it: the end of its lease. Null: it has ended.
  due_at BIGINT,
  lease TEXT
);

CREATE INDEX batches_by_account ON batches (account_id, id);

CREATE INDEX batches_open ON batches (account_id, phase) WHERE phase <> 'ended';

CREATE INDEX batches_due ON batches (phase, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX batches_ended ON batches (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE batch_lines (
  batch_id TEXT NOT NULL,
  -- From 1, as in the file.
  number INTEGER NOT NULL,
  custom_id TEXT NOT NULL,
  -- pending: nothing has begun. starting: its create may have begun, under its key. running: it has a task. completed
  -- and failed: its task has ended. refused: it ended without a task.
  state TEXT NOT NULL,
  -- Null once it is not needed any more.
  order_json TEXT,
  task_id TEXT,
  fault_json TEXT,
  -- The part of `reserved_nanos` that it takes.
  nanos BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, number)
);

CREATE INDEX batch_lines_open ON batch_lines (batch_id, state, number)
  WHERE state IN ('pending', 'starting', 'running');
