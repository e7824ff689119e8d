-- Coupons: a second kind of streams, in tables of its own. What operators did is in `audit`, and the last comparison in
-- `reconciliations`, under 'coupon:<id>': no jackpot's id has a ':'.

-- A coupon: how far its stream has been read, its state there, and who reads it. As in `jackpots`.
CREATE TABLE coupons (
  coupon_id TEXT PRIMARY KEY,
  n BIGINT NOT NULL,
  hash TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  restores BIGINT NOT NULL,
  books TEXT NOT NULL,            -- JSON: ledger::coupons::books::Books at n
  stopped TEXT NOT NULL,
  holder TEXT NOT NULL,
  lease_token BIGINT NOT NULL,
  lease_until_ms BIGINT NOT NULL
);

-- The record of coupons, chained as that of jackpots.
CREATE TABLE coupon_events (
  coupon_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  stream_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  type TEXT NOT NULL,
  last_sequence BIGINT NOT NULL,  -- issues up to and with this event
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (coupon_id, n)
);

-- Units that were issued, in their order.
CREATE TABLE coupon_issues (
  coupon_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  request_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  code TEXT NOT NULL,
  issued_at_ms BIGINT NOT NULL,
  n BIGINT NOT NULL,              -- event that issued it
  voided_at_ms BIGINT NOT NULL,   -- 0 while it is not voided
  voided_n BIGINT NOT NULL,       -- event that voided it, 0 while it is not
  PRIMARY KEY (coupon_id, sequence),
  UNIQUE (coupon_id, request_id)
);
CREATE INDEX coupon_issues_by_user ON coupon_issues (coupon_id, user_id, sequence);
-- Reconciliation counts them.
CREATE INDEX coupon_issues_voided ON coupon_issues (coupon_id, voided_n) WHERE voided_n > 0;

-- Every definition that a coupon had, with the event that put it in force.
CREATE TABLE coupon_definitions (
  coupon_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (coupon_id, version)
);
