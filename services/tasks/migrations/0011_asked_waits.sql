-- The refusals of a task that waits, without those in which an upstream only limited its callers.
ALTER TABLE waiting ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

-- The upstream of a channel has asked for no calls of a kind before a time. Every process and every start obeys it.
CREATE TABLE channel_waits (
  channel TEXT NOT NULL,
  -- work or reads.
  kind TEXT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (channel, kind)
);
