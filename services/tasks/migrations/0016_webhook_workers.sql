-- The process that leased the receiver, by a name that it drew at its start. Null: a worker of an earlier release, whose
-- leases are not renewed.
ALTER TABLE webhook_receivers ADD COLUMN worker TEXT;
