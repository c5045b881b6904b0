-- `updated_at` is the time of the last change that the owner can see. It grows with each, so it names a version.
CREATE INDEX tasks_changed ON tasks (account_id, state, updated_at, id) WHERE admission IN ('accepted', 'unknown');
