-- Units of coupons that entries won. The issue itself is in the coupon's own stream (coupon_issues); this is the
-- jackpot's record of it.
CREATE TABLE coupon_prizes (
  jackpot_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,         -- of the entry
  n BIGINT NOT NULL,
  entry_id TEXT NOT NULL,
  player_id TEXT NOT NULL,
  rank BIGINT NOT NULL,
  coupon_id TEXT NOT NULL,
  coupon_sequence BIGINT NOT NULL,
  code TEXT NOT NULL,
  issued_at_ms BIGINT NOT NULL,
  PRIMARY KEY (jackpot_id, sequence)
);
CREATE UNIQUE INDEX coupon_prizes_by_issue ON coupon_prizes (coupon_id, coupon_sequence);
