-- The most that a task is charged; null: there is no bound. The release before does not know the column, so the check
-- keeps it from extending or settling a hold above its bound: its transaction fails and is repeated by a newer process.
ALTER TABLE holds ADD COLUMN max_amount_nanos BIGINT
  CHECK (amount_nanos <= max_amount_nanos AND COALESCE(charged_nanos, 0) <= max_amount_nanos);
