-- How the tasks of a token wait for a channel. The release before leaves both at their defaults.
ALTER TABLE tokens ADD COLUMN queue_wait TEXT NOT NULL DEFAULT 'channels';
ALTER TABLE tokens ADD COLUMN queue_class TEXT NOT NULL DEFAULT 'standard';
