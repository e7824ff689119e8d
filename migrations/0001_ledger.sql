-- The ledger. One text for SQLite and PostgreSQL: TEXT and BIGINT only, no NULL, hashes in hexadecimal, times in ms
-- of Redis' clock, amounts in minor units, JSON as text. Written by the projector alone, in one transaction with the
-- cursor of the stream (jackpots.n, jackpots.hash).

-- Which ledger this is: Redis holds the same id, so that nobody plays with another ledger's Redis.
CREATE TABLE ledger (
  ledger_id TEXT PRIMARY KEY,
  created_at_ms BIGINT NOT NULL
);

-- A jackpot: how far its stream has been read, its state there, and who reads it.
CREATE TABLE jackpots (
  jackpot_id TEXT PRIMARY KEY,
  n BIGINT NOT NULL,              -- last event applied, dense from 1
  hash TEXT NOT NULL,             -- of that event in the chain
  stream_id TEXT NOT NULL,        -- of that event in Redis
  restores BIGINT NOT NULL,       -- how often Redis was rebuilt from here
  books TEXT NOT NULL,            -- JSON: ledger::books::Books at n
  stopped TEXT NOT NULL,          -- why the next event can't be applied; '' while it can
  holder TEXT NOT NULL,           -- instance that reads the stream now, '' for none
  lease_token BIGINT NOT NULL,    -- grows with each change of holder: a stalled one can't commit
  lease_until_ms BIGINT NOT NULL  -- by the database's clock
);

-- The record: one row per event, chained. Everything else can be rebuilt from it.
CREATE TABLE events (
  jackpot_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  stream_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  type TEXT NOT NULL,
  last_sequence BIGINT NOT NULL,  -- entries up to and with this event
  hash TEXT NOT NULL,             -- SHA-256(hash of n - 1, body): ledger::chain
  body TEXT NOT NULL,             -- the event's fields as canonical JSON (RFC 8785)
  PRIMARY KEY (jackpot_id, n)
);

-- The event that took the entry with a sequence: the first whose last_sequence reaches it.
CREATE INDEX events_by_sequence ON events (jackpot_id, last_sequence) WHERE type = 'enter';

-- Double entry: the rows of one event and tier sum to zero (amount * 1,000,000 + micro).
CREATE TABLE postings (
  jackpot_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  n BIGINT NOT NULL,
  line BIGINT NOT NULL,
  tier TEXT NOT NULL,
  account TEXT NOT NULL,          -- contributions | pool | reserve | overflow | remainder | payouts | funding
  amount BIGINT NOT NULL,         -- minor units into the account, negative: out of it
  micro BIGINT NOT NULL,          -- millionths of a minor unit
  PRIMARY KEY (jackpot_id, at_ms, n, line)
);

CREATE TABLE definitions (
  jackpot_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  json TEXT NOT NULL,
  kept BIGINT NOT NULL,           -- 1 while Redis keeps it
  PRIMARY KEY (jackpot_id, version)
);

CREATE TABLE epochs (
  jackpot_id TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  commitment TEXT NOT NULL,
  opened_ms BIGINT NOT NULL,
  closed_ms BIGINT NOT NULL,      -- 0 while open
  closed_n BIGINT NOT NULL,       -- event that closed it, 0 while open
  PRIMARY KEY (jackpot_id, epoch)
);

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
  sequence BIGINT NOT NULL,
  entry_id TEXT NOT NULL,
  player_id TEXT NOT NULL,
  rank BIGINT NOT NULL,
  tier TEXT NOT NULL,
  amount BIGINT NOT NULL,
  currency TEXT NOT NULL,
  pool_before BIGINT NOT NULL,
  pool_after BIGINT NOT NULL,
  paid_at_ms BIGINT NOT NULL,
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

-- Every operator action.
CREATE TABLE audit (
  jackpot_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,           -- define | pause | resume | suspend | close | adjust | rotate | restore
  target TEXT NOT NULL,           -- '<jackpot_id>', with '/<adjustment id>' and the like where there is one
  before TEXT NOT NULL,           -- JSON
  after TEXT NOT NULL,            -- JSON
  reason TEXT NOT NULL,
  request_id TEXT NOT NULL,
  PRIMARY KEY (jackpot_id, n)
);
CREATE INDEX audit_by_time ON audit (at_ms, jackpot_id, n);

-- The last reconciliation of each jackpot.
CREATE TABLE reconciliations (
  jackpot_id TEXT PRIMARY KEY,
  n BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  clean BIGINT NOT NULL,          -- 1: Redis and the ledger agree and every identity holds
  report TEXT NOT NULL            -- JSON: ledger::reconcile::Report
);

-- Public keys that receipts and heads were ever signed with.
CREATE TABLE signing_keys (
  key_id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,       -- base64url, 32 bytes
  first_seen_ms BIGINT NOT NULL
);

-- Days (UTC, 'YYYYMMDD') that have an index of entries, a table 'entries_<day>' each: ledger::entry_index.
CREATE TABLE entry_days (
  day TEXT PRIMARY KEY
);
