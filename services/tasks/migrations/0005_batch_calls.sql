-- The call that a line makes later, as JSON. Null: the line is an order, or its call is not needed any more. The id of
-- its job stands in `task_id`, as in the other tables of jobs and tasks.
ALTER TABLE batch_lines ADD COLUMN call_json TEXT;
