-- How much an account has sent within its requests.
CREATE INDEX objects_inline ON objects (account_id) WHERE purpose = 'inline';
