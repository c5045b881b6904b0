-- The task's row and its attempts say this already; the history is read from them.
DELETE FROM task_events WHERE type IN ('created', 'attempt_started', 'attempt_refused', 'accepted');
