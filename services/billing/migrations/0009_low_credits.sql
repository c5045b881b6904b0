-- The key of the last credit that was announced to have run low, empty if none was; and when that is announced again, empty if it is not.
ALTER TABLE accounts ADD COLUMN low_credit_key TEXT;
ALTER TABLE accounts ADD COLUMN low_repeat_at BIGINT;
