-- The parts of the tokens of an ended call and its searches, as far as the upstream reported them: a JSON object of counts
-- by name. Null: none.
ALTER TABLE calls ADD COLUMN used_parts TEXT;
