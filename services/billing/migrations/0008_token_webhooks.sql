-- What a token may do with webhooks: write, read or none. Empty is write, also of a token that the program of the release before makes.
ALTER TABLE tokens ADD COLUMN webhooks TEXT;
