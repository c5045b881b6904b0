-- What was charged, hour by hour (the time of settlement, in milliseconds since 1970 at the hour's beginning): a statement reads these
-- instead of every hold and call. They are written in the transaction of the settlement.
CREATE TABLE usage_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  token_id TEXT NOT NULL,
  price_key TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  seconds BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  cached_input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  images BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  PRIMARY KEY (account_id, hour, token_id, price_key)
);

-- The hours of what was settled before. A count is bounded as it is in the service.
INSERT INTO usage_hours (account_id, hour, token_id, price_key, requests, charged_nanos, seconds, input_tokens, cached_input_tokens, output_tokens, images, characters)
SELECT account_id, ended_at / 3600000 * 3600000, token_id, price_key, COUNT(*), SUM(charged_nanos),
  SUM(CASE WHEN used_seconds > 1000000000 THEN 1000000000 WHEN used_seconds > 0 THEN used_seconds
    WHEN used_input_tokens > 0 OR used_output_tokens > 0 THEN 0 ELSE seconds + input_video_seconds END),
  SUM(CASE WHEN used_input_tokens > 1000000000 THEN 1000000000 WHEN used_input_tokens > 0 THEN used_input_tokens ELSE 0 END), 0,
  SUM(CASE WHEN used_output_tokens > 1000000000 THEN 1000000000 WHEN used_output_tokens > 0 THEN used_output_tokens ELSE 0 END),
  SUM(images), 0
FROM holds WHERE state = 'settled' GROUP BY account_id, ended_at / 3600000 * 3600000, token_id, price_key;

-- For the parts of an hour at the ends of a statement's time.
CREATE INDEX holds_ended ON holds (account_id, ended_at) WHERE state = 'settled';
CREATE INDEX calls_ended ON calls (account_id, ended_at) WHERE ended_at IS NOT NULL;
