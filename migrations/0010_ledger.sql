-- The ledger of jackpots, coupons and rooms. One text for SQLite and PostgreSQL: TEXT and BIGINT only, hashes in
-- hexadecimal, amounts in minor units, JSON as text, times in ms of Redis' clock unless a comment says otherwise. The
-- projector alone writes it, in one transaction with the cursor of the stream (streams.n, streams.hash).
--
-- Numbers begin at 10: a ledger of a build from before the first release has lower ones, and is refused.

-- Which ledger this is, and which Redis belongs to it: Redis holds the same two ids, so that nobody plays with another
-- ledger's Redis. Every transaction that writes checks store_id.
CREATE TABLE ledger (
  one BIGINT PRIMARY KEY CHECK (one = 1),  -- one row, also when two instances start at once
  ledger_id TEXT NOT NULL,
  store_id TEXT NOT NULL DEFAULT ''        -- the Redis that belongs to it; '' before the first start
);

-- Every jackpot, coupon and room: how far the ledger is with its stream, and who reads it.
CREATE TABLE streams (
  kind TEXT NOT NULL,             -- jackpot | coupon | room
  id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- last event applied, dense from 1
  hash TEXT NOT NULL,             -- of that event in the chain
  stream_id TEXT NOT NULL,        -- of that event in Redis
  restores BIGINT NOT NULL,       -- times that Redis was rebuilt from the ledger
  books TEXT NOT NULL,            -- JSON: the kind's books at n
  status TEXT NOT NULL,           -- at n, as answers name it; '' before the first event
  stopped TEXT NOT NULL,          -- why the next event can't be applied; '' while it can
  indexed_n BIGINT NOT NULL,      -- last event whose entries the index by player has: it is written less often; jackpots alone
  holder TEXT NOT NULL,           -- instance that reads the stream now, '' for none
  lease_token BIGINT NOT NULL,    -- grows with each change of holder: a stalled one can't commit
  lease_until_ms BIGINT NOT NULL, -- by the database's clock
  PRIMARY KEY (kind, id)
);

-- The record: one row per event, chained. Everything else can be rebuilt from it. An event that an operator skipped has
-- the type 'skipped' and the event itself inside.
CREATE TABLE events (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  n BIGINT NOT NULL,
  stream_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  type TEXT NOT NULL,
  last_sequence BIGINT NOT NULL,  -- entries or issues up to and with this event; 0 for rooms
  hash TEXT NOT NULL,             -- SHA-256(hash of n - 1, body): ledger::chain
  moved TEXT NOT NULL,            -- a jackpot's double entry: jackpot::ledger::postings; '' for nothing
  body TEXT NOT NULL,             -- the event's fields as canonical JSON (RFC 8785)
  PRIMARY KEY (kind, id, n)
);
-- Lists of postings. The clock of a promoted replica may be behind, so times are not in the order of numbers.
CREATE INDEX events_moved ON events (id, at_ms, n) WHERE moved <> '';
-- Few; looked for when an entry's own event is not in `enter`.
CREATE INDEX events_skipped ON events (kind, id, last_sequence, n) WHERE type = 'skipped';

-- Every definition of a jackpot or coupon. Those of rooms are in their books.
CREATE TABLE definitions (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  version BIGINT NOT NULL,
  n BIGINT NOT NULL,              -- event that put it
  at_ms BIGINT NOT NULL,
  json TEXT NOT NULL,
  kept BIGINT NOT NULL,           -- 1 while Redis keeps it
  PRIMARY KEY (kind, id, version)
);

-- Every operator action.
CREATE TABLE audit (
  subject TEXT NOT NULL,          -- '<jackpot id>', 'coupon:<id>' or 'room:<id>'
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,           -- define | pause | resume | suspend | close | adjust | rotate | restore | void | redrive | skip
  target TEXT NOT NULL,           -- the subject, with '/<adjustment id>' and the like where there is one
  before TEXT NOT NULL,           -- JSON
  after TEXT NOT NULL,            -- JSON
  reason TEXT NOT NULL,
  request_id TEXT NOT NULL,
  PRIMARY KEY (subject, n)
);
CREATE INDEX audit_by_time ON audit (at_ms, subject, n);
CREATE INDEX audit_by_subject ON audit (subject, at_ms, n);

-- The last comparison of each with Redis.
CREATE TABLE reconciliations (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  clean BIGINT NOT NULL,          -- 1: Redis and the ledger agree and every identity holds
  report TEXT NOT NULL,           -- JSON: ledger::reconcile::Report
  PRIMARY KEY (kind, id)
);

-- Public keys that receipts, heads and passes were ever signed with. A pass that claims to be made after its key retired is
-- refused: a stolen old key makes no new ones.
CREATE TABLE signing_keys (
  key_id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,       -- base64url, 32 bytes
  first_seen_ms BIGINT NOT NULL,
  retired_ms BIGINT               -- when it stopped signing; NULL while it signs, or where that is not known
);

-- Of jackpots.

CREATE TABLE epochs (
  jackpot_id TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  commitment TEXT NOT NULL,
  nonce TEXT NOT NULL,            -- 32 hexadecimal digits
  secret_id TEXT NOT NULL,        -- 16 hexadecimal digits
  opened_ms BIGINT NOT NULL,
  closed_ms BIGINT NOT NULL,      -- 0 while open
  closed_n BIGINT NOT NULL,       -- event that closed it, 0 while open
  seed TEXT NOT NULL DEFAULT '',  -- 64 hexadecimal digits, '' before it is published; then the secret is not needed
  PRIMARY KEY (jackpot_id, epoch)
);
CREATE INDEX epochs_unpublished ON epochs (jackpot_id, epoch) WHERE seed = '';

CREATE TABLE adjustments (
  jackpot_id TEXT NOT NULL,
  adjustment_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (jackpot_id, adjustment_id)
);

-- Receipts.
CREATE TABLE payouts (
  payout_id TEXT PRIMARY KEY,
  jackpot_id TEXT NOT NULL,
  claim_order BIGINT NOT NULL,
  n BIGINT NOT NULL,
  sequence BIGINT NOT NULL,       -- of the entry
  entry_id TEXT NOT NULL,
  player_id TEXT NOT NULL,
  rank BIGINT NOT NULL,
  tier TEXT NOT NULL,
  amount BIGINT NOT NULL,
  currency TEXT NOT NULL,
  pool_before BIGINT NOT NULL,
  pool_after BIGINT NOT NULL,
  paid_at_ms BIGINT NOT NULL,
  history TEXT NOT NULL,          -- in which it was paid: 16 hexadecimal digits, others after each restore
  event_id TEXT NOT NULL,         -- '<jackpot_id>:<n>'
  key_id TEXT NOT NULL,
  signature TEXT NOT NULL         -- base64url Ed25519
);
CREATE UNIQUE INDEX payouts_by_order ON payouts (jackpot_id, claim_order);
CREATE UNIQUE INDEX payouts_by_entry ON payouts (jackpot_id, sequence);
CREATE INDEX payouts_by_time ON payouts (paid_at_ms, jackpot_id, claim_order);
CREATE INDEX payouts_by_jackpot ON payouts (jackpot_id, paid_at_ms, claim_order);
CREATE INDEX payouts_by_player ON payouts (player_id, paid_at_ms, jackpot_id, claim_order);
CREATE INDEX payouts_by_tier ON payouts (tier, paid_at_ms, jackpot_id, claim_order);

-- Units of coupons that entries won. The issue itself is in the coupon's own stream (coupon_issues); this is the jackpot's
-- record of it.
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
-- Not unique: a coupon that lost its last issues with its Redis gives their numbers again, while the jackpot's stream has
-- kept the first ones. Both are shown; neither stops the other.
CREATE INDEX coupon_prizes_by_issue ON coupon_prizes (coupon_id, coupon_sequence);

-- Days (UTC, 'YYYYMMDD') that have an index of entries, a table entries_<day> each (ledger::entry_index).
CREATE TABLE entry_days (
  day TEXT PRIMARY KEY
);

-- Of coupons.

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
