-- What the work of an ended hold cost at its upstream: as the upstream reported it, in millionths of a US dollar, and by
-- the upstream price of its channel, in the currency of the hold. Null: not known. The end of the hold writes both once.
ALTER TABLE holds ADD COLUMN reported_cost_micro_usd BIGINT;
ALTER TABLE holds ADD COLUMN estimated_cost_nanos BIGINT;

-- The part of the requests and of cost_nanos whose charge the upstream reported; the rest is estimated. Requests and
-- charges are those of work whose cost is known by either, also of failed tasks that an upstream charged.
ALTER TABLE money_hours ADD COLUMN reported_requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE money_hours ADD COLUMN reported_cost_nanos BIGINT NOT NULL DEFAULT 0;
