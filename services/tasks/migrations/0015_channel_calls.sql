-- The calls that a process of the gateway has given a channel in a second. A gateway that starts counts them to the
-- minute of the channel.
CREATE TABLE channel_calls (
  channel TEXT NOT NULL,
  process TEXT NOT NULL,
  -- The beginning of the second.
  at BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (channel, process, at)
);
