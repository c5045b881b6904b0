-- The ended batches of an account, which count to what it stores.
CREATE INDEX batches_kept ON batches (account_id) WHERE ended_at IS NOT NULL;
