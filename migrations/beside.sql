-- Tables that an earlier program does not have. Each is created where it is missing, with its indexes and its first rows, and
-- none is part of the schema's version: so an earlier program works beside this one, and a ledger can go back to it.
-- A blank line ends a table (crates/kernel/src/sql/beside.rs). Types and units are those of 0010_ledger.sql.

-- The steps of meters' histories (`jackpot::ledger::steps`), made again from events where they are missing. The index
-- finds the last row: a clock that went back leaves rows of later times with earlier events.
CREATE TABLE meter_steps (
  jackpot_id TEXT NOT NULL,
  step_s BIGINT NOT NULL,         -- 60, 3600 or 86400
  at_s BIGINT NOT NULL,           -- begin in UTC, seconds since 1970
  n BIGINT NOT NULL,              -- last event of the step
  pools TEXT NOT NULL,            -- JSON: the pool of each tier after that event, minor units
  PRIMARY KEY (jackpot_id, step_s, at_s)
);
CREATE INDEX meter_steps_by_event ON meter_steps (jackpot_id, step_s, n);

-- Reasons of actions whose events have none (`console::reasons`).
CREATE TABLE console_reasons (
  request_id TEXT NOT NULL,       -- audit.request_id
  who TEXT NOT NULL,              -- audit.who: a client may send any request id, but not under another one's name
  reason TEXT NOT NULL,
  PRIMARY KEY (request_id, who)
);

-- Sessions of the console that ended before their time (`console::signed_out`). A copy is another service, where no
-- session of this one counts.
CREATE TABLE console_signed_out (
  session TEXT PRIMARY KEY,       -- id of the session, hexadecimal
  until_ms BIGINT NOT NULL        -- from here on the session is over anyway, and the row can go
);

-- Decisions about the emergency stop (`ledger::emergency`). The last one holds, also for what is restored.
CREATE TABLE emergency_decisions (
  decision BIGINT PRIMARY KEY,    -- its order: a later one has a higher one, odd for a stop, even for a start
  reason TEXT NOT NULL,
  at_ms BIGINT NOT NULL,          -- ms since 1970
  who TEXT NOT NULL,              -- name of the operator's key
  request_id TEXT NOT NULL
);

-- What each source of a jackpot has brought and won, by tier. As all tables of sources it has rows only for entries
-- that named a source: an earlier program takes none.
CREATE TABLE source_meters (
  jackpot_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  tier TEXT NOT NULL,
  entries BIGINT NOT NULL,        -- entries of the source; the same for each tier
  contributed BIGINT NOT NULL,    -- minor units, and millionths of one, below 1,000,000
  contributed_micro BIGINT NOT NULL,
  paid BIGINT NOT NULL,           -- minor units
  payouts BIGINT NOT NULL,        -- number of payments
  PRIMARY KEY (jackpot_id, source_id, tier)
);

-- What each event moved for each source: the accounts `contributions` and `payouts`, as `events.moved` has them
-- (`jackpot::ledger::postings`).
CREATE TABLE source_postings (
  jackpot_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,          -- time and number of the event
  n BIGINT NOT NULL,
  moved TEXT NOT NULL,
  PRIMARY KEY (jackpot_id, source_id, at_ms, n)
);

-- The source of each payout whose entry named one, and what lists of them filter by.
CREATE TABLE source_payouts (
  payout_id TEXT PRIMARY KEY,
  source_id TEXT NOT NULL,
  jackpot_id TEXT NOT NULL,       -- as in payouts
  paid_at_ms BIGINT NOT NULL,
  claim_order BIGINT NOT NULL,
  player_id TEXT NOT NULL,
  tier TEXT NOT NULL,
  amount BIGINT NOT NULL
);
CREATE INDEX source_payouts_by_jackpot ON source_payouts (jackpot_id, source_id, paid_at_ms, claim_order);
CREATE INDEX source_payouts_by_source ON source_payouts (source_id, paid_at_ms, jackpot_id, claim_order);

-- The entries of each source, as long as the index of entries by player has them: the key of their rows there.
CREATE TABLE source_entries (
  jackpot_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  player_id TEXT NOT NULL,
  PRIMARY KEY (jackpot_id, source_id, at_ms, sequence)
);
CREATE UNIQUE INDEX source_entries_by_sequence ON source_entries (jackpot_id, sequence);

-- The cycles of tiers with a must-hit rule (`jackpot::ledger::projector::cycles`). An earlier program plays no
-- jackpot that has one.
CREATE TABLE cycles (
  jackpot_id TEXT NOT NULL,
  tier TEXT NOT NULL,
  cycle BIGINT NOT NULL,          -- number, from 0
  nonce TEXT NOT NULL,            -- inputs of its seed
  secret_id TEXT NOT NULL,
  commitment TEXT NOT NULL,       -- SHA-256 of its seed, hexadecimal
  low BIGINT,                     -- what was pinned, NULL where the rule has none: minor units; seconds after the begin; seconds since 1970
  high BIGINT,
  after_s BIGINT,
  deadline_s BIGINT,
  began_ms BIGINT NOT NULL,       -- time and number of the event that began it
  began_n BIGINT NOT NULL,
  ended_ms BIGINT NOT NULL,       -- of the event that ended it; 0 while it is open
  ended_n BIGINT NOT NULL,
  ended_by TEXT NOT NULL,         -- must-hit, take or restart; empty while it is open
  seed TEXT NOT NULL,             -- hexadecimal; empty while it is not published
  PRIMARY KEY (jackpot_id, tier, cycle)
);
CREATE INDEX cycles_by_begin ON cycles (jackpot_id, began_n, tier, cycle);
CREATE INDEX cycles_unpublished ON cycles (jackpot_id) WHERE seed = '';

-- Versions of the definitions that cycles began under. Beside `cycles`, so that an earlier program finds the columns
-- that it knows, and none for the cycles that it began.
CREATE TABLE cycle_versions (
  jackpot_id TEXT NOT NULL,
  tier TEXT NOT NULL,             -- as in cycles
  cycle BIGINT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (jackpot_id, tier, cycle)
);

-- Transfers that jackpots gave (`jackpot::transfer`). A row without an end is money in transit, and the list of what
-- is left to do: the index has only those.
CREATE TABLE transfers (
  jackpot_id TEXT NOT NULL,       -- the jackpot that gave
  transfer_id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- its event, its place in that from 0 (a skipped event may carry several), and the time
  place BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  to_id TEXT NOT NULL,            -- the jackpot that receives
  parts TEXT NOT NULL,            -- what each tier gave: "tier,to_tier,pool,pool_micro,reserve,reserve_micro,overflow;" each
  done_ms BIGINT NOT NULL,        -- when it was received, ms; 0 while in transit
  PRIMARY KEY (jackpot_id, transfer_id)
);
CREATE UNIQUE INDEX transfers_by_event ON transfers (jackpot_id, n, place);
CREATE INDEX transfers_in_transit ON transfers (at_ms) WHERE done_ms = 0;

-- Adjustments, and transfers that wait or waited for a second owner (`jackpot::ledger::projector::moves`).
-- Adjustments of an earlier program have no row. The second index has what waits.
CREATE TABLE operator_moves (
  jackpot_id TEXT NOT NULL,
  kind TEXT NOT NULL,             -- adjustment or transfer
  move_id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- its event, its place in that from 0 (a skipped event may carry several), and the time
  place BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  owner TEXT NOT NULL,            -- of the key that asked; '' in events of an earlier version
  who TEXT NOT NULL,
  reason TEXT NOT NULL,
  amount BIGINT NOT NULL,         -- minor units
  tier TEXT NOT NULL,             -- of an adjustment: its tier, and its meters, '' for outside
  from_meter TEXT NOT NULL,
  to_meter TEXT NOT NULL,
  to_id TEXT NOT NULL,            -- of a transfer: the jackpot that it goes to, and what the tiers held
  parts TEXT NOT NULL,
  state TEXT NOT NULL,            -- held, done or withdrawn
  decided_by TEXT NOT NULL,       -- name of the key that approved or withdrew it, and when; '' and 0 for none
  decided_ms BIGINT NOT NULL,
  PRIMARY KEY (jackpot_id, kind, move_id)
);
CREATE UNIQUE INDEX operator_moves_by_event ON operator_moves (jackpot_id, kind, n, place);
CREATE INDEX operator_moves_held ON operator_moves (jackpot_id, kind, n, place) WHERE state = 'held';

-- Rooms for transfers in the jackpots that receive (`jackpot::transfer`). A row without an end may have to be
-- released: the index has only those. Rooms of an earlier program come from its records.
CREATE TABLE transfer_rooms (
  jackpot_id TEXT NOT NULL,       -- the jackpot that receives
  name TEXT NOT NULL,             -- of its record in adjustments
  at_ms BIGINT NOT NULL,
  freed_ms BIGINT NOT NULL,       -- when it ended, ms; 0 before
  PRIMARY KEY (jackpot_id, name)
);
INSERT INTO transfer_rooms (jackpot_id, name, at_ms, freed_ms)
  SELECT jackpot_id, adjustment_id, at_ms, 0 FROM adjustments
  WHERE adjustment_id LIKE '!room!%';
CREATE INDEX transfer_rooms_open ON transfer_rooms (at_ms) WHERE freed_ms = 0;

-- The figures of daily reports (`jackpot::ledger::daily`), made again from events where they are missing. The second
-- index finds the last run before a time, the third the runs of a clock that went back.
CREATE TABLE report_runs (
  jackpot_id TEXT NOT NULL,
  first_n BIGINT NOT NULL,        -- first and last event, all within one quarter of an hour
  n BIGINT NOT NULL,
  at_s BIGINT NOT NULL,           -- begin of that quarter in UTC, seconds since 1970; the latest one up to this run
  high_s BIGINT NOT NULL,
  version BIGINT NOT NULL,        -- of the definition in force after the last event
  totals TEXT NOT NULL,           -- JSON: sums of all events up to the last
  PRIMARY KEY (jackpot_id, first_n)
);
CREATE INDEX report_runs_by_time ON report_runs (jackpot_id, high_s, first_n);
CREATE INDEX report_runs_late ON report_runs (jackpot_id, first_n) WHERE at_s < high_s;

-- Payouts that are tracked until the winner has the money (`jackpot::settlement`): where each is, and what lists of
-- them filter by. The third index is for events out, the last one has what is not settled, for metrics.
CREATE TABLE payout_states (
  payout_id TEXT PRIMARY KEY,
  jackpot_id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- event that paid it
  first_state TEXT NOT NULL,      -- held or due
  paid_at_ms BIGINT NOT NULL,     -- as in payouts
  claim_order BIGINT NOT NULL,
  player_id TEXT NOT NULL,
  tier TEXT NOT NULL,
  amount BIGINT NOT NULL,
  currency TEXT NOT NULL,
  source_id TEXT NOT NULL,        -- of the entry; empty for none, as all that follow
  state TEXT NOT NULL,            -- held, due, settled, failed, void-requested or void
  state_n BIGINT NOT NULL,        -- event of its last step; n before the first
  approved_by TEXT NOT NULL,      -- name and owner of the key that approved it
  approver TEXT NOT NULL,
  attempt TEXT NOT NULL,          -- the last attempt to settle it: settled or failed; its id; its reference or reason; when, ms
  settlement_id TEXT NOT NULL,
  attempt_text TEXT NOT NULL,
  attempt_ms BIGINT NOT NULL,
  asked TEXT NOT NULL,            -- owner who asked to take it back
  voided_ms BIGINT NOT NULL,      -- of the receipt of its void: when, ms; the key and the signature
  void_key_id TEXT NOT NULL,
  void_signature TEXT NOT NULL
);
CREATE INDEX payout_states_by_state ON payout_states (state, paid_at_ms, jackpot_id, claim_order);
CREATE INDEX payout_states_by_jackpot ON payout_states (jackpot_id, state, paid_at_ms, claim_order);
CREATE INDEX payout_states_by_claim ON payout_states (jackpot_id, claim_order);
CREATE INDEX payout_states_open ON payout_states (jackpot_id, currency, state, paid_at_ms, amount)
  WHERE state <> 'settled' AND state <> 'void';

-- The events that took a step of a tracked payout. The steps from before this table are in the audit log.
CREATE TABLE payout_steps (
  payout_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  jackpot_id TEXT NOT NULL,
  PRIMARY KEY (payout_id, n)
);
INSERT INTO payout_steps (payout_id, n, jackpot_id)
  SELECT p.payout_id, a.n, p.jackpot_id FROM audit a JOIN payout_states p
  ON a.subject = p.jackpot_id AND a.target = p.jackpot_id || '/' || p.payout_id;

-- The settlement ids that a jackpot has used, and for what: a repeat is known by its content.
CREATE TABLE settlement_ids (
  jackpot_id TEXT NOT NULL,
  settlement_id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- its event
  payout_id TEXT NOT NULL,
  attempt TEXT NOT NULL,          -- settled or failed; the reference or reason
  attempt_text TEXT NOT NULL,
  PRIMARY KEY (jackpot_id, settlement_id)
);

-- Where events go (`jackpot_outside::events`). The key of a subscription is derived from the master secret, so no row
-- holds a secret.
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  target TEXT NOT NULL,           -- JSON, as the PUT has them
  types TEXT NOT NULL,
  subjects TEXT NOT NULL,
  begins TEXT NOT NULL,           -- now or beginning
  status TEXT NOT NULL,           -- running, paused or disabled
  version BIGINT NOT NULL,        -- grows with each change of the row
  nonce TEXT NOT NULL,            -- inputs of its key: 32 hexadecimal digits, and the id of the master secret
  secret_id TEXT NOT NULL
);

-- How far each subscription is with each subject.
CREATE TABLE subscription_streams (
  subscription_id TEXT NOT NULL,
  kind TEXT NOT NULL,             -- the subject
  id TEXT NOT NULL,
  n BIGINT NOT NULL,              -- what is delivered next: event of its stream, from 1, and number among what that event tells, from 0
  i BIGINT NOT NULL,
  holder TEXT NOT NULL,           -- instance that delivers it, as in holders with the kind 'subscription'; '' for none
  token BIGINT NOT NULL,          -- grows with each change of the holder, and with each change of the cursor that is no delivery
  tries BIGINT NOT NULL,          -- failed tries of the next one
  failing_ms BIGINT NOT NULL,     -- since when it fails, and when it is tried again, by the database's clock; 0 while it does not fail
  next_try_ms BIGINT NOT NULL,
  last_error TEXT NOT NULL,       -- why the last try failed; '' after a success
  PRIMARY KEY (subscription_id, kind, id)
);
CREATE INDEX subscription_streams_by_holder ON subscription_streams (holder);

-- Units that their users have used (`coupon::redemption`). Beside `coupon_issues`, so that an earlier program finds
-- the columns that it knows.
CREATE TABLE coupon_redemptions (
  coupon_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,       -- number of the issue
  n BIGINT NOT NULL,              -- event that redeemed it
  at_ms BIGINT NOT NULL,          -- when, ms
  redemption_id TEXT NOT NULL,    -- the caller's id of the redemption, and text about it
  reference TEXT NOT NULL,
  PRIMARY KEY (coupon_id, sequence)
);
CREATE INDEX coupon_redemptions_by_event ON coupon_redemptions (coupon_id, n);

-- The metadata of the requests that got a unit (`coupon::metadata`); rows only where there is some.
CREATE TABLE coupon_metadata (
  coupon_id TEXT NOT NULL,
  sequence BIGINT NOT NULL,       -- number of the issue
  json TEXT NOT NULL,             -- texts by name, without spaces
  PRIMARY KEY (coupon_id, sequence)
);

-- How far the messages of each lane of a broker's topic are taken (`intake::positions`). A copy has them: the
-- messages since then are taken again, as entries that the copy does not have.
CREATE TABLE intake_lanes (
  name TEXT NOT NULL,             -- the setting intake.group
  topic TEXT NOT NULL,            -- connection, '/', topic or subject
  lane TEXT NOT NULL,             -- partition of Kafka; '0' for NATS
  position BIGINT NOT NULL,       -- the first message that may not be done: offset or sequence; -1 before any was
  holder TEXT NOT NULL,           -- instance that takes the messages, as in holders with the kind 'intake'; '' for none
  token BIGINT NOT NULL,          -- grows with each change of the holder
  since_ms BIGINT NOT NULL,       -- no effect of a message at or after the position is older, by the database's clock
  PRIMARY KEY (name, topic, lane)
);
