-- A job is one call to billing, however often it is begun.
ALTER TABLE jobs DROP COLUMN settled_calls;
