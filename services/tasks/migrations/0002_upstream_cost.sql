-- What the upstream says that it charged, in millionths of a US dollar, written with the end of the task. Null: it does
-- not say it.
ALTER TABLE tasks ADD COLUMN upstream_cost_micro_usd BIGINT;
