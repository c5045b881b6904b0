-- What a token may do with the tokens of its account: write, read or none. Empty is none, also of a token that the program of the release
-- before makes. And the token that made it, empty if an operator or the configuration did.
ALTER TABLE tokens ADD COLUMN token_right TEXT;
ALTER TABLE tokens ADD COLUMN made_by_token_id TEXT;

-- What operators did, and tokens with other tokens. Written in the transaction that does it; later acts have greater ids.
CREATE TABLE operator_acts (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail_json TEXT NOT NULL
);
CREATE INDEX operator_acts_by_subject ON operator_acts (subject, id);

-- The outcomes of the last checks of the whole ledger, faults as a list of sentences.
CREATE TABLE ledger_checks (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  is_ok BIGINT NOT NULL,
  entries BIGINT NOT NULL,
  faults_json TEXT NOT NULL,
  actor TEXT NOT NULL
);

-- Estimates for operators, hour by hour. Each process writes its own rows, whole, so that a repeated write changes nothing. requests,
-- charged_nanos and cost_nanos are those of work whose channel has an upstream price; channel is empty where none is known.
CREATE TABLE money_hours (
  hour BIGINT NOT NULL,
  process TEXT NOT NULL,
  channel TEXT NOT NULL,
  price_key TEXT NOT NULL,
  currency TEXT NOT NULL,
  requests BIGINT NOT NULL,
  charged_nanos BIGINT NOT NULL,
  cost_nanos BIGINT NOT NULL,
  overruns BIGINT NOT NULL,
  overrun_nanos BIGINT NOT NULL,
  lapses BIGINT NOT NULL,
  PRIMARY KEY (hour, process, channel, price_key, currency)
);

-- The charges of every account in a period. An hour of a token is written once and then only added to, so few settlements write to it.
CREATE INDEX usage_hours_by_hour ON usage_hours (hour);
