-- The still pictures that stand for results: one a task, and gone with it.
CREATE UNIQUE INDEX objects_posters ON objects (task_id) WHERE purpose = 'poster';
