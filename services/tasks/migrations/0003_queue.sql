-- 0: a process of the release before, which does not show tasks that wait.
ALTER TABLE processes ADD COLUMN knows_queue INTEGER NOT NULL DEFAULT 0;

-- The time at which it left the queue first, from which its deadlines count. Null: it did not wait.
ALTER TABLE tasks ADD COLUMN began_at BIGINT;

-- A task that waits for a channel is seen by its owner. The release before reads the rows that it knows in this index too.
DROP INDEX tasks_changed;

CREATE INDEX tasks_changed ON tasks (account_id, state, updated_at, id)
  WHERE admission IN ('accepted', 'unknown', 'waiting');

-- The tasks from the queue that a process submits now.
CREATE INDEX tasks_claimed ON tasks (admission, owner) WHERE admission = 'waiting' AND owner IS NOT NULL;

-- The places of the tasks that wait for a channel. A place stays until the upstream has answered, so that a task that no
-- upstream took returns to it.
CREATE TABLE waiting (
  task_id TEXT PRIMARY KEY,
  -- The tasks of a lane can be done by the same channels.
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  -- Seconds of video.
  cost BIGINT NOT NULL,
  since BIGINT NOT NULL,
  -- Without a turn until then the task fails.
  start_by BIGINT NOT NULL,
  -- The counters that it takes at its turn, with their limits.
  caps_json TEXT NOT NULL,
  -- The staged media of its order and of its source.
  media_json TEXT NOT NULL,
  -- 1: a process submits it now.
  claimed INTEGER NOT NULL DEFAULT 0,
  -- The least one has the next turn of its token, and of equal ones the oldest task. An operator gives others than 0.
  rank BIGINT NOT NULL DEFAULT 0,
  -- A task that has no turn before a time waits in the lane `scheduled` until then, and in this one from then on.
  not_before BIGINT,
  next_lane TEXT
);

CREATE INDEX waiting_heads ON waiting (lane, token_id, rank, task_id) WHERE claimed = 0;

CREATE INDEX waiting_scheduled ON waiting (not_before) WHERE next_lane IS NOT NULL;

CREATE INDEX waiting_by_account ON waiting (account_id, lane, since) WHERE claimed = 0;

CREATE INDEX waiting_by_end ON waiting (start_by) WHERE claimed = 0;

-- The task of a lane that has waited longest.
CREATE INDEX waiting_oldest ON waiting (lane, since) WHERE claimed = 0;

CREATE INDEX waiting_claimed ON waiting (claimed) WHERE claimed = 1;

-- What the accounts of a lane have used of it, in virtual time: the least one is next. Whoever changes places locks the
-- row of their account first.
CREATE TABLE queue_accounts (
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  weight INTEGER NOT NULL DEFAULT 1,
  used BIGINT NOT NULL DEFAULT 0,
  -- Its places that no process has claimed.
  waiting BIGINT NOT NULL DEFAULT 0,
  -- 0: each of its tokens that waits is at its limit.
  ready INTEGER NOT NULL DEFAULT 1,
  -- 1: an operator holds it.
  held INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, account_id)
);

CREATE INDEX queue_accounts_next ON queue_accounts (lane, used, account_id)
  WHERE waiting > 0 AND ready = 1 AND held = 0;

CREATE INDEX queue_accounts_waiting ON queue_accounts (account_id) WHERE waiting > 0;

-- The same of the tokens of an account.
CREATE TABLE queue_tokens (
  lane TEXT NOT NULL,
  account_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  used BIGINT NOT NULL DEFAULT 0,
  waiting BIGINT NOT NULL DEFAULT 0,
  -- 0: the token is at its limit.
  ready INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (lane, account_id, token_id)
);

CREATE INDEX queue_tokens_next ON queue_tokens (lane, account_id, used, token_id) WHERE waiting > 0 AND ready = 1;

CREATE INDEX queue_tokens_blocked ON queue_tokens (token_id) WHERE ready = 0;

-- What operators decided over an account or a model in every lane. A lane that an account enters later takes it from here.
CREATE TABLE queue_rules (
  -- `account:ID` or `model:ID`.
  subject TEXT PRIMARY KEY,
  weight INTEGER NOT NULL DEFAULT 1,
  -- When the weight ends; null: it does not.
  weight_until BIGINT,
  held INTEGER NOT NULL DEFAULT 0
);
