-- The parts of the tokens that upstreams reported, and the searches, hour by hour. Hours before this have none; `ledger rebuild`
-- counts them from the calls.
ALTER TABLE usage_hours ADD COLUMN cache_write_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN cache_write_1h_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN audio_input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN cached_audio_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN image_input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN cached_image_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN reasoning_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN audio_output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN image_output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN searches BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN cache_write_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN cache_write_1h_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN audio_input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN cached_audio_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN image_input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN cached_image_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN reasoning_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN audio_output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN image_output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE label_hours ADD COLUMN searches BIGINT NOT NULL DEFAULT 0;
