-- The accounts of a phase with their batches. A lease goes through the accounts, and reads few batches of each.
CREATE INDEX batches_turns ON batches (phase, account_id, due_at) WHERE due_at IS NOT NULL;

-- 0: its lines are removed, which begins when it has ended. Until then it counts to the open batches of its account.
ALTER TABLE batches ADD COLUMN has_lines INTEGER NOT NULL DEFAULT 1;

CREATE INDEX batches_left ON batches (account_id, ended_at) WHERE ended_at IS NOT NULL AND has_lines = 1;
