-- The word by which its client accounts for a task or a call; empty: none. counted_label is the label under which
-- label_hours has its charge; empty: it has none. The release before settles labelled work without counting it there, and
-- leaves the two different: a pass of a newer process makes up for it.
ALTER TABLE holds ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE holds ADD COLUMN counted_label TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN counted_label TEXT NOT NULL DEFAULT '';
-- Empty, unless a process of the release before has settled labelled work.
CREATE INDEX holds_uncounted ON holds (ended_at, task_id) WHERE state = 'settled' AND counted_label <> label;
CREATE INDEX calls_uncounted ON calls (ended_at, id)
  WHERE ended_at IS NOT NULL AND basis <> 'released' AND counted_label <> label;

-- The part of usage_hours that has a label, written in the same transaction. Work without one has no row here.
CREATE TABLE label_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  label TEXT NOT NULL,
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
  PRIMARY KEY (account_id, hour, label, token_id, price_key)
);

-- The label of what a token orders, unless its request names another one; empty: none.
ALTER TABLE tokens ADD COLUMN label TEXT NOT NULL DEFAULT '';
