-- Counts what the circuit of a receiver counted: a failure, or the success that closed it. An attempt that began before
-- the last count was under way together with the failure that was counted, and is not counted again.
ALTER TABLE webhook_receivers ADD COLUMN circuit BIGINT NOT NULL DEFAULT 0;

-- How often a success of the receiver made the delivery due before its time.
ALTER TABLE webhook_deliveries ADD COLUMN hurries INTEGER NOT NULL DEFAULT 0;
