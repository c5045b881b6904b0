-- The objects that the media of an order were frozen as, by the place of each in the content: a regeneration can be built from them.
ALTER TABLE tasks ADD COLUMN staged_json TEXT;
