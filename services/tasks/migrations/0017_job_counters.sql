-- The counters of a job in flight, as of a task: those of its token, of the tokens that made it, and of all tokens. Null: a program of the
-- release before made the job, and counted it for its token and for all.
ALTER TABLE jobs ADD COLUMN in_flight_json TEXT;
