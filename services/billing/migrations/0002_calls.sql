-- The synchronous routes: one row for each call, written when it is placed and once more when it ends.
-- A call is open while ended_at is empty. The facts are frozen; used_* is what the upstream reported, uncharged_nanos what its usage came
-- to above the charge. placed_in and ended_in name the batches, whose events are `hold_calls:{batch}:{account}` and
-- `settle_calls:{batch}:{account}`. A release that came before its call is a row of its own without an account: nothing can be placed there.
-- Neither an amount nor a charge is above 10^15, so a batch of a thousand never leaves the bounds of a ledger line.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  amount_nanos BIGINT NOT NULL CHECK (amount_nanos BETWEEN 0 AND 1000000000000000),
  currency TEXT NOT NULL,
  price_key TEXT NOT NULL,
  price_version INTEGER NOT NULL,
  seconds BIGINT NOT NULL,
  images BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  characters BIGINT NOT NULL,
  placed_at BIGINT NOT NULL,
  lapses_at BIGINT NOT NULL,
  placed_in TEXT NOT NULL,
  basis TEXT,
  charged_nanos BIGINT CHECK (charged_nanos BETWEEN 0 AND 1000000000000000),
  uncharged_nanos BIGINT,
  ended_at BIGINT,
  ended_in TEXT,
  used_seconds BIGINT,
  used_images BIGINT,
  used_input_tokens BIGINT,
  used_cached_input_tokens BIGINT,
  used_output_tokens BIGINT,
  used_characters BIGINT
);
CREATE INDEX calls_open ON calls (lapses_at, id) WHERE ended_at IS NULL;

ALTER TABLE holds ADD COLUMN characters BIGINT NOT NULL DEFAULT 0;
