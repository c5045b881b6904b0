-- The credits of an account by their time: a count of accounts with little money left finds the last one. No hold, call or
-- settlement writes to it.
CREATE INDEX financial_events_credits ON financial_events (account_id, occurred_at) WHERE kind = 'credit';
