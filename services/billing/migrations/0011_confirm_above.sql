-- The price above which an order of an agent with this token waits for a person, in billionths. Null: none does.
ALTER TABLE tokens ADD COLUMN confirm_above_nanos BIGINT;
