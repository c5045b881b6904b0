-- The ended batches of an account, which count to what it stores.
CREATE INDEX batches_kept ON batches (account_id) WHERE ended_at IS NOT NULL;

-- The client's names for fields of the order, as a JSON object, where they differ. Null: none does.
ALTER TABLE batch_lines ADD COLUMN names_json TEXT;
