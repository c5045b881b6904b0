-- The charged work of the hour whose cost at its upstream is known, and the part of it whose cost the upstream reported; the
-- rest of that is estimated by an upstream price. The release before adds nothing to them, so its work is without a known
-- cost: requests less costed_requests. A rebuild of the hours leaves them as they are.
ALTER TABLE usage_hours ADD COLUMN costed_requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN costed_charged_nanos BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN cost_nanos BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN reported_requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN reported_charged_nanos BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN reported_cost_nanos BIGINT NOT NULL DEFAULT 0;

-- Failed tasks that their upstream charged, in the currency of the account. They are in no statement, so they have a table of
-- their own, which only such a release writes to.
CREATE TABLE failed_cost_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  cost_nanos BIGINT NOT NULL,
  PRIMARY KEY (account_id, hour)
);

-- What was charged for the work whose cost was reported, and charged work without a known cost. Null: a process of the release
-- before wrote the row, which counted neither.
ALTER TABLE money_hours ADD COLUMN reported_charged_nanos BIGINT;
ALTER TABLE money_hours ADD COLUMN uncosted_requests BIGINT;
ALTER TABLE money_hours ADD COLUMN uncosted_charged_nanos BIGINT;
