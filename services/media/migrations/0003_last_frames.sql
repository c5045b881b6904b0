-- The picture of the last frame of a video, as its generator made it. A program before it writes no such object, so the
-- index binds none of its rows.
-- contract: needs 0002_files.sql
CREATE UNIQUE INDEX objects_last_frames ON objects (task_id) WHERE purpose = 'last_frame';
