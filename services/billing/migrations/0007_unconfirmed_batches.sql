-- The batches of calls that were answered before they were durable, and are not confirmed yet. No client has seen an answer to such a
-- call, so it lapses uncharged. There are as many rows as there are requests under way, so no index is needed.
CREATE TABLE unconfirmed_batches (
  batch_id TEXT NOT NULL,
  lapses_at BIGINT NOT NULL
);
