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
-- Not unique: a coupon that lost its last issues with its Redis gives their numbers again, while the jackpot's own stream
-- has kept what it was told. Both are shown; neither stops the other.
CREATE INDEX coupon_prizes_by_issue ON coupon_prizes (coupon_id, coupon_sequence);
