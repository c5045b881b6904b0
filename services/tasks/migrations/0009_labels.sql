-- The tables come in the order in which transactions lock them, so that neither waits for the other.

-- The label of the tasks and calls of its lines. Null: that of its token.
ALTER TABLE batches ADD COLUMN label TEXT;

-- The word by which its client accounts for the task. Null: none.
ALTER TABLE tasks ADD COLUMN label TEXT;

-- The labelled tasks of an account. A create without a label does not write to it.
CREATE INDEX tasks_by_label ON tasks (account_id, label, id) WHERE label IS NOT NULL;
