-- The words of prompts, for the search of tasks by words. They are written after the task, by a pass.
CREATE TABLE prompt_words (
  account_id TEXT NOT NULL,
  word TEXT NOT NULL,
  task_id TEXT NOT NULL,
  PRIMARY KEY (account_id, word, task_id)
);

-- The tasks whose prompts have been read for it.
CREATE TABLE read_prompts (
  task_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  -- Its words between bars, such as `|red|kite|`.
  words TEXT NOT NULL
);

-- How far the pass has come. Each process changes the row only as it has read it, so two never do the same work.
CREATE TABLE prompt_reading (
  id INTEGER PRIMARY KEY,
  -- The place of the last event of an end that was read. An end that follows is never missed, whoever wrote it.
  ended_seq BIGINT NOT NULL,
  -- The last new task that was read, so that tasks are found before they end. One that was committed late is missed here.
  seen_id TEXT NOT NULL,
  -- The last task that was read of those that were there before this table, the newest first. Empty: all are read.
  older_id TEXT NOT NULL
);

INSERT INTO prompt_reading (id, ended_seq, seen_id, older_id)
  SELECT 1, (SELECT last FROM event_sequence WHERE id = 1), COALESCE(MAX(id), ''), COALESCE(MAX(id) || 'z', '')
  FROM tasks;
