-- The times at which a process saw that a clock was set, or that the clocks of the processes differ, in milliseconds
-- and rounded down to hours, so that no day adds more than 24 rows. The times in rows of tasks can be wrong near them.
CREATE TABLE clock_doubts (at BIGINT PRIMARY KEY);
