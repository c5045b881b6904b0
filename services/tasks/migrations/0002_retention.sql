-- What may be removed when it is old enough, by when it ended.
CREATE INDEX tasks_settled ON tasks (finished_at) WHERE settled_at IS NOT NULL;

CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);
