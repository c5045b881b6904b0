-- A lease passes over the due jobs of the accounts of which one runs, without reading their rows.
DROP INDEX jobs_due;

CREATE INDEX jobs_due ON jobs (due_at, account_id) WHERE due_at IS NOT NULL;
