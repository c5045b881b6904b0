-- What the ended lines of a batch were charged, in billionths, with the currency; null: none is counted yet.
ALTER TABLE batches ADD COLUMN charged_nanos BIGINT NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN currency TEXT;
-- The lines of an ended batch whose money was not settled at its end.
ALTER TABLE batches ADD COLUMN uncharged BIGINT NOT NULL DEFAULT 0;
-- What a line was charged. Null: that is not counted in its batch.
ALTER TABLE batch_lines ADD COLUMN charged_nanos BIGINT;
CREATE INDEX batch_lines_uncharged ON batch_lines (batch_id, number)
  WHERE charged_nanos IS NULL AND task_id IS NOT NULL AND state IN ('completed', 'failed');
