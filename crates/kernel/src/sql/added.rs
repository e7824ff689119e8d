//! Tables that an earlier program does not have. They are created where they are missing, and are no part of the schema's
//! version: so an earlier program works beside this one, and a ledger can go back to it.

use sqlx::{AnyConnection, Executor};

/// A table.
pub struct Added {
    pub name: &'static str,
    create: &'static str,
    /// Name of each column, and whether it is a text.
    pub columns: &'static [(&'static str, bool)],
    /// Whether a copy of the ledger carries its rows.
    pub is_copied: bool,
}

/// All of them.
pub const TABLES: [Added; 22] = [
    STEPS,
    REASONS,
    SIGNED_OUT,
    EMERGENCY,
    SOURCE_METERS,
    SOURCE_POSTINGS,
    SOURCE_PAYOUTS,
    SOURCE_ENTRIES,
    CYCLES,
    CYCLE_VERSIONS,
    TRANSFERS,
    OPERATOR_MOVES,
    TRANSFER_ROOMS,
    REPORT_RUNS,
    PAYOUT_STATES,
    PAYOUT_STEPS,
    SETTLEMENT_IDS,
    SUBSCRIPTIONS,
    SUBSCRIPTION_STREAMS,
    COUPON_REDEMPTIONS,
    COUPON_METADATA,
    INTAKE_LANES,
];

/// The steps of meters' histories (`jackpot::ledger::steps`), made again from events where they are missing. The index
/// finds the last row: a clock that went back leaves rows of later times with earlier events.
pub const STEPS: Added = Added {
    name: "meter_steps",
    create: "CREATE TABLE meter_steps (jackpot_id TEXT NOT NULL, step_s BIGINT NOT NULL, at_s BIGINT NOT NULL, \
             n BIGINT NOT NULL, pools TEXT NOT NULL, PRIMARY KEY (jackpot_id, step_s, at_s)); \
             CREATE INDEX meter_steps_by_event ON meter_steps (jackpot_id, step_s, n)",
    columns: &[
        ("jackpot_id", true),
        // 60, 3600 or 86400
        ("step_s", false),
        // begin in UTC, seconds since 1970
        ("at_s", false),
        // last event of the step
        ("n", false),
        // JSON: the pool of each tier after that event, minor units
        ("pools", true),
    ],
    is_copied: true,
};

/// Reasons of actions whose events have none (`console::reasons`).
pub const REASONS: Added = Added {
    name: "console_reasons",
    create: "CREATE TABLE console_reasons (request_id TEXT NOT NULL, who TEXT NOT NULL, reason TEXT NOT NULL, \
             PRIMARY KEY (request_id, who))",
    columns: &[
        // audit.request_id
        ("request_id", true),
        // audit.who: a client may send any request id, but not under another one's name
        ("who", true),
        ("reason", true),
    ],
    is_copied: true,
};

/// Sessions of the console that ended before their time (`console::signed_out`). A copy is another service, where no
/// session of this one counts.
pub const SIGNED_OUT: Added = Added {
    name: "console_signed_out",
    create: "CREATE TABLE console_signed_out (session TEXT PRIMARY KEY, until_ms BIGINT NOT NULL)",
    columns: &[
        // id of the session, hexadecimal
        ("session", true),
        // from here on the session is over anyway, and the row can go
        ("until_ms", false),
    ],
    is_copied: false,
};

/// Decisions about the emergency stop (`ledger::emergency`). The last one holds, also for what is restored.
pub const EMERGENCY: Added = Added {
    name: "emergency_decisions",
    create: "CREATE TABLE emergency_decisions (decision BIGINT PRIMARY KEY, reason TEXT NOT NULL, at_ms BIGINT NOT \
             NULL, who TEXT NOT NULL, request_id TEXT NOT NULL)",
    columns: &[
        // its order: a later one has a higher one, odd for a stop, even for a start
        ("decision", false),
        ("reason", true),
        // ms since 1970
        ("at_ms", false),
        // name of the operator's key
        ("who", true),
        ("request_id", true),
    ],
    is_copied: true,
};

/// What each source of a jackpot has brought and won, by tier. As all tables of sources it has rows only for entries that
/// named a source: an earlier program takes none.
pub const SOURCE_METERS: Added = Added {
    name: "source_meters",
    create: "CREATE TABLE source_meters (jackpot_id TEXT NOT NULL, source_id TEXT NOT NULL, tier TEXT NOT NULL, \
             entries BIGINT NOT NULL, contributed BIGINT NOT NULL, contributed_micro BIGINT NOT NULL, \
             paid BIGINT NOT NULL, payouts BIGINT NOT NULL, PRIMARY KEY (jackpot_id, source_id, tier))",
    columns: &[
        ("jackpot_id", true),
        ("source_id", true),
        ("tier", true),
        // entries of the source; the same for each tier
        ("entries", false),
        // minor units, and millionths of one, below 1,000,000
        ("contributed", false),
        ("contributed_micro", false),
        // minor units
        ("paid", false),
        // number of payments
        ("payouts", false),
    ],
    is_copied: true,
};

/// What each event moved for each source: the accounts `contributions` and `payouts`, as `events.moved` has them
/// (`jackpot::ledger::postings`).
pub const SOURCE_POSTINGS: Added = Added {
    name: "source_postings",
    create: "CREATE TABLE source_postings (jackpot_id TEXT NOT NULL, source_id TEXT NOT NULL, at_ms BIGINT NOT NULL, \
             n BIGINT NOT NULL, moved TEXT NOT NULL, PRIMARY KEY (jackpot_id, source_id, at_ms, n))",
    columns: &[
        ("jackpot_id", true),
        ("source_id", true),
        // time and number of the event
        ("at_ms", false),
        ("n", false),
        ("moved", true),
    ],
    is_copied: true,
};

/// The source of each payout whose entry named one, and what lists of them filter by.
pub const SOURCE_PAYOUTS: Added = Added {
    name: "source_payouts",
    create: "CREATE TABLE source_payouts (payout_id TEXT PRIMARY KEY, source_id TEXT NOT NULL, jackpot_id TEXT NOT NULL, \
             paid_at_ms BIGINT NOT NULL, claim_order BIGINT NOT NULL, player_id TEXT NOT NULL, tier TEXT NOT NULL, \
             amount BIGINT NOT NULL); \
             CREATE INDEX source_payouts_by_jackpot ON source_payouts (jackpot_id, source_id, paid_at_ms, claim_order); \
             CREATE INDEX source_payouts_by_source ON source_payouts (source_id, paid_at_ms, jackpot_id, claim_order)",
    columns: &[
        ("payout_id", true),
        ("source_id", true),
        // as in payouts
        ("jackpot_id", true),
        ("paid_at_ms", false),
        ("claim_order", false),
        ("player_id", true),
        ("tier", true),
        ("amount", false),
    ],
    is_copied: true,
};

/// The entries of each source, as long as the index of entries by player has them: the key of their rows there.
pub const SOURCE_ENTRIES: Added = Added {
    name: "source_entries",
    create: "CREATE TABLE source_entries (jackpot_id TEXT NOT NULL, source_id TEXT NOT NULL, at_ms BIGINT NOT NULL, \
             sequence BIGINT NOT NULL, player_id TEXT NOT NULL, PRIMARY KEY (jackpot_id, source_id, at_ms, sequence)); \
             CREATE UNIQUE INDEX source_entries_by_sequence ON source_entries (jackpot_id, sequence)",
    columns: &[
        ("jackpot_id", true),
        ("source_id", true),
        ("at_ms", false),
        ("sequence", false),
        ("player_id", true),
    ],
    is_copied: true,
};

/// The cycles of tiers with a must-hit rule (`jackpot::ledger::projector::cycles`). An earlier program plays no jackpot that
/// has one.
pub const CYCLES: Added = Added {
    name: "cycles",
    create: "CREATE TABLE cycles (jackpot_id TEXT NOT NULL, tier TEXT NOT NULL, cycle BIGINT NOT NULL, nonce TEXT NOT NULL, \
             secret_id TEXT NOT NULL, commitment TEXT NOT NULL, low BIGINT, high BIGINT, after_s BIGINT, \
             deadline_s BIGINT, began_ms BIGINT NOT NULL, began_n BIGINT NOT NULL, ended_ms BIGINT NOT NULL, \
             ended_n BIGINT NOT NULL, ended_by TEXT NOT NULL, seed TEXT NOT NULL, \
             PRIMARY KEY (jackpot_id, tier, cycle)); \
             CREATE INDEX cycles_by_begin ON cycles (jackpot_id, began_n, tier, cycle); \
             CREATE INDEX cycles_unpublished ON cycles (jackpot_id) WHERE seed = ''",
    columns: &[
        ("jackpot_id", true),
        ("tier", true),
        // number, from 0
        ("cycle", false),
        // inputs of its seed
        ("nonce", true),
        ("secret_id", true),
        // SHA-256 of its seed, hexadecimal
        ("commitment", true),
        // what was pinned, NULL where the rule has none: minor units; seconds after the begin; seconds since 1970
        ("low", false),
        ("high", false),
        ("after_s", false),
        ("deadline_s", false),
        // time and number of the event that began it
        ("began_ms", false),
        ("began_n", false),
        // of the event that ended it; 0 while it is open
        ("ended_ms", false),
        ("ended_n", false),
        // must-hit, take or restart; empty while it is open
        ("ended_by", true),
        // hexadecimal; empty while it is not published
        ("seed", true),
    ],
    is_copied: true,
};

/// Versions of the definitions that cycles began under. Beside `cycles`, so that an earlier program finds the columns that it
/// knows, and none for the cycles that it began.
pub const CYCLE_VERSIONS: Added = Added {
    name: "cycle_versions",
    create: "CREATE TABLE cycle_versions (jackpot_id TEXT NOT NULL, tier TEXT NOT NULL, cycle BIGINT NOT NULL, \
             version BIGINT NOT NULL, PRIMARY KEY (jackpot_id, tier, cycle))",
    columns: &[
        ("jackpot_id", true),
        // as in cycles
        ("tier", true),
        ("cycle", false),
        ("version", false),
    ],
    is_copied: true,
};

/// Transfers that jackpots gave (`jackpot::transfer`). A row without an end is money in transit, and the list of what is left
/// to do: the index has only those.
pub const TRANSFERS: Added = Added {
    name: "transfers",
    create: "CREATE TABLE transfers (jackpot_id TEXT NOT NULL, transfer_id TEXT NOT NULL, n BIGINT NOT NULL, \
             place BIGINT NOT NULL, at_ms BIGINT NOT NULL, to_id TEXT NOT NULL, parts TEXT NOT NULL, done_ms BIGINT NOT NULL, \
             PRIMARY KEY (jackpot_id, transfer_id)); \
             CREATE UNIQUE INDEX transfers_by_event ON transfers (jackpot_id, n, place); \
             CREATE INDEX transfers_in_transit ON transfers (at_ms) WHERE done_ms = 0",
    columns: &[
        // the jackpot that gave
        ("jackpot_id", true),
        ("transfer_id", true),
        // its event, its place in that from 0 (a skipped event may carry several), and the time
        ("n", false),
        ("place", false),
        ("at_ms", false),
        // the jackpot that receives
        ("to_id", true),
        // what each tier gave: "tier,to_tier,pool,pool_micro,reserve,reserve_micro,overflow;" each
        ("parts", true),
        // when it was received, ms; 0 while in transit
        ("done_ms", false),
    ],
    is_copied: true,
};

/// Adjustments, and transfers that wait or waited for a second owner (`jackpot::ledger::projector::moves`). Adjustments of an
/// earlier program have no row. The second index has what waits.
pub const OPERATOR_MOVES: Added = Added {
    name: "operator_moves",
    create: "CREATE TABLE operator_moves (jackpot_id TEXT NOT NULL, kind TEXT NOT NULL, move_id TEXT NOT NULL, \
             n BIGINT NOT NULL, place BIGINT NOT NULL, at_ms BIGINT NOT NULL, owner TEXT NOT NULL, who TEXT NOT NULL, \
             reason TEXT NOT NULL, amount BIGINT NOT NULL, tier TEXT NOT NULL, from_meter TEXT NOT NULL, \
             to_meter TEXT NOT NULL, to_id TEXT NOT NULL, parts TEXT NOT NULL, state TEXT NOT NULL, \
             decided_by TEXT NOT NULL, decided_ms BIGINT NOT NULL, PRIMARY KEY (jackpot_id, kind, move_id)); \
             CREATE UNIQUE INDEX operator_moves_by_event ON operator_moves (jackpot_id, kind, n, place); \
             CREATE INDEX operator_moves_held ON operator_moves (jackpot_id, kind, n, place) WHERE state = 'held'",
    columns: &[
        ("jackpot_id", true),
        // adjustment or transfer
        ("kind", true),
        ("move_id", true),
        // its event, its place in that from 0 (a skipped event may carry several), and the time
        ("n", false),
        ("place", false),
        ("at_ms", false),
        // of the key that asked; '' in events of an earlier version
        ("owner", true),
        ("who", true),
        ("reason", true),
        // minor units
        ("amount", false),
        // of an adjustment: its tier, and its meters, '' for outside
        ("tier", true),
        ("from_meter", true),
        ("to_meter", true),
        // of a transfer: the jackpot that it goes to, and what the tiers held
        ("to_id", true),
        ("parts", true),
        // held, done or withdrawn
        ("state", true),
        // name of the key that approved or withdrew it, and when; '' and 0 for none
        ("decided_by", true),
        ("decided_ms", false),
    ],
    is_copied: true,
};

/// Rooms for transfers in the jackpots that receive (`jackpot::transfer`). A row without an end may have to be released: the
/// index has only those. Rooms of an earlier program come from its records.
pub const TRANSFER_ROOMS: Added = Added {
    name: "transfer_rooms",
    create: "CREATE TABLE transfer_rooms (jackpot_id TEXT NOT NULL, name TEXT NOT NULL, at_ms BIGINT NOT NULL, \
             freed_ms BIGINT NOT NULL, PRIMARY KEY (jackpot_id, name)); \
             INSERT INTO transfer_rooms (jackpot_id, name, at_ms, freed_ms) \
             SELECT jackpot_id, adjustment_id, at_ms, 0 FROM adjustments WHERE adjustment_id LIKE '!room!%'; \
             CREATE INDEX transfer_rooms_open ON transfer_rooms (at_ms) WHERE freed_ms = 0",
    columns: &[
        // the jackpot that receives
        ("jackpot_id", true),
        // of its record in adjustments
        ("name", true),
        ("at_ms", false),
        // when it ended, ms; 0 before
        ("freed_ms", false),
    ],
    is_copied: true,
};

/// The figures of daily reports (`jackpot::ledger::daily`), made again from events where they are missing. The second index
/// finds the last run before a time, the third the runs of a clock that went back.
pub const REPORT_RUNS: Added = Added {
    name: "report_runs",
    create: "CREATE TABLE report_runs (jackpot_id TEXT NOT NULL, first_n BIGINT NOT NULL, n BIGINT NOT NULL, \
             at_s BIGINT NOT NULL, high_s BIGINT NOT NULL, version BIGINT NOT NULL, totals TEXT NOT NULL, \
             PRIMARY KEY (jackpot_id, first_n)); \
             CREATE INDEX report_runs_by_time ON report_runs (jackpot_id, high_s, first_n); \
             CREATE INDEX report_runs_late ON report_runs (jackpot_id, first_n) WHERE at_s < high_s",
    columns: &[
        ("jackpot_id", true),
        // first and last event, all within one quarter of an hour
        ("first_n", false),
        ("n", false),
        // begin of that quarter in UTC, seconds since 1970; the latest one up to this run
        ("at_s", false),
        ("high_s", false),
        // of the definition in force after the last event
        ("version", false),
        // JSON: sums of all events up to the last
        ("totals", true),
    ],
    is_copied: true,
};

/// Payouts that are tracked until the winner has the money (`jackpot::settlement`): where each is, and what lists of them
/// filter by. The third index is for events out, the last one has what is not settled, for metrics.
pub const PAYOUT_STATES: Added = Added {
    name: "payout_states",
    create: "CREATE TABLE payout_states (payout_id TEXT PRIMARY KEY, jackpot_id TEXT NOT NULL, n BIGINT NOT NULL, \
             first_state TEXT NOT NULL, paid_at_ms BIGINT NOT NULL, claim_order BIGINT NOT NULL, player_id TEXT NOT NULL, \
             tier TEXT NOT NULL, amount BIGINT NOT NULL, currency TEXT NOT NULL, source_id TEXT NOT NULL, state TEXT NOT NULL, \
             state_n BIGINT NOT NULL, approved_by TEXT NOT NULL, approver TEXT NOT NULL, attempt TEXT NOT NULL, \
             settlement_id TEXT NOT NULL, attempt_text TEXT NOT NULL, attempt_ms BIGINT NOT NULL, asked TEXT NOT NULL, \
             voided_ms BIGINT NOT NULL, void_key_id TEXT NOT NULL, void_signature TEXT NOT NULL); \
             CREATE INDEX payout_states_by_state ON payout_states (state, paid_at_ms, jackpot_id, claim_order); \
             CREATE INDEX payout_states_by_jackpot ON payout_states (jackpot_id, state, paid_at_ms, claim_order); \
             CREATE INDEX payout_states_by_claim ON payout_states (jackpot_id, claim_order); \
             CREATE INDEX payout_states_open ON payout_states (jackpot_id, currency, state, paid_at_ms, amount) \
             WHERE state <> 'settled' AND state <> 'void'",
    columns: &[
        ("payout_id", true),
        ("jackpot_id", true),
        // event that paid it
        ("n", false),
        // held or due
        ("first_state", true),
        // as in payouts
        ("paid_at_ms", false),
        ("claim_order", false),
        ("player_id", true),
        ("tier", true),
        ("amount", false),
        ("currency", true),
        // of the entry; empty for none, as all that follow
        ("source_id", true),
        // held, due, settled, failed, void-requested or void
        ("state", true),
        // event of its last step; n before the first
        ("state_n", false),
        // name and owner of the key that approved it
        ("approved_by", true),
        ("approver", true),
        // the last attempt to settle it: settled or failed; its id; its reference or reason; when, ms
        ("attempt", true),
        ("settlement_id", true),
        ("attempt_text", true),
        ("attempt_ms", false),
        // owner who asked to take it back
        ("asked", true),
        // of the receipt of its void: when, ms; the key and the signature
        ("voided_ms", false),
        ("void_key_id", true),
        ("void_signature", true),
    ],
    is_copied: true,
};

/// The events that took a step of a tracked payout. The steps from before this table are in the audit log.
pub const PAYOUT_STEPS: Added = Added {
    name: "payout_steps",
    create: "CREATE TABLE payout_steps (payout_id TEXT NOT NULL, n BIGINT NOT NULL, jackpot_id TEXT NOT NULL, \
             PRIMARY KEY (payout_id, n)); \
             INSERT INTO payout_steps (payout_id, n, jackpot_id) \
             SELECT p.payout_id, a.n, p.jackpot_id FROM audit a JOIN payout_states p \
             ON a.subject = p.jackpot_id AND a.target = p.jackpot_id || '/' || p.payout_id",
    columns: &[("payout_id", true), ("n", false), ("jackpot_id", true)],
    is_copied: true,
};

/// The settlement ids that a jackpot has used, and for what: a repeat is known by its content.
pub const SETTLEMENT_IDS: Added = Added {
    name: "settlement_ids",
    create: "CREATE TABLE settlement_ids (jackpot_id TEXT NOT NULL, settlement_id TEXT NOT NULL, n BIGINT NOT NULL, \
             payout_id TEXT NOT NULL, attempt TEXT NOT NULL, attempt_text TEXT NOT NULL, \
             PRIMARY KEY (jackpot_id, settlement_id))",
    columns: &[
        ("jackpot_id", true),
        ("settlement_id", true),
        // its event
        ("n", false),
        ("payout_id", true),
        // settled or failed; the reference or reason
        ("attempt", true),
        ("attempt_text", true),
    ],
    is_copied: true,
};

/// Units that their users have used (`coupon::redemption`). Beside `coupon_issues`, so that an earlier program finds the
/// columns that it knows.
pub const COUPON_REDEMPTIONS: Added = Added {
    name: "coupon_redemptions",
    create: "CREATE TABLE coupon_redemptions (coupon_id TEXT NOT NULL, sequence BIGINT NOT NULL, n BIGINT NOT NULL, \
             at_ms BIGINT NOT NULL, redemption_id TEXT NOT NULL, reference TEXT NOT NULL, PRIMARY KEY (coupon_id, sequence)); \
             CREATE INDEX coupon_redemptions_by_event ON coupon_redemptions (coupon_id, n)",
    columns: &[
        ("coupon_id", true),
        // number of the issue
        ("sequence", false),
        // event that redeemed it
        ("n", false),
        // when, ms
        ("at_ms", false),
        // the caller's id of the redemption, and text about it
        ("redemption_id", true),
        ("reference", true),
    ],
    is_copied: true,
};

/// The metadata of the requests that got a unit (`coupon::metadata`); rows only where there is some.
pub const COUPON_METADATA: Added = Added {
    name: "coupon_metadata",
    create: "CREATE TABLE coupon_metadata (coupon_id TEXT NOT NULL, sequence BIGINT NOT NULL, json TEXT NOT NULL, \
             PRIMARY KEY (coupon_id, sequence))",
    columns: &[
        ("coupon_id", true),
        // number of the issue
        ("sequence", false),
        // texts by name, without spaces
        ("json", true),
    ],
    is_copied: true,
};

/// Where events go (`jackpot_outside::events`). The key of a subscription is derived from the master secret, so no row holds a secret.
pub const SUBSCRIPTIONS: Added = Added {
    name: "subscriptions",
    create: "CREATE TABLE subscriptions (id TEXT PRIMARY KEY, target TEXT NOT NULL, types TEXT NOT NULL, subjects TEXT NOT NULL, \
             begins TEXT NOT NULL, status TEXT NOT NULL, version BIGINT NOT NULL, nonce TEXT NOT NULL, \
             secret_id TEXT NOT NULL)",
    columns: &[
        ("id", true),
        // JSON, as the PUT has them
        ("target", true),
        ("types", true),
        ("subjects", true),
        // now or beginning
        ("begins", true),
        // running, paused or disabled
        ("status", true),
        // grows with each change of the row
        ("version", false),
        // inputs of its key: 32 hexadecimal digits, and the id of the master secret
        ("nonce", true),
        ("secret_id", true),
    ],
    is_copied: true,
};

/// How far each subscription is with each subject.
pub const SUBSCRIPTION_STREAMS: Added = Added {
    name: "subscription_streams",
    create: "CREATE TABLE subscription_streams (subscription_id TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, \
             n BIGINT NOT NULL, i BIGINT NOT NULL, holder TEXT NOT NULL, token BIGINT NOT NULL, tries BIGINT NOT NULL, \
             failing_ms BIGINT NOT NULL, next_try_ms BIGINT NOT NULL, last_error TEXT NOT NULL, \
             PRIMARY KEY (subscription_id, kind, id)); \
             CREATE INDEX subscription_streams_by_holder ON subscription_streams (holder)",
    columns: &[
        ("subscription_id", true),
        // the subject
        ("kind", true),
        ("id", true),
        // what is delivered next: event of its stream, from 1, and number among what that event tells, from 0
        ("n", false),
        ("i", false),
        // instance that delivers it, as in holders with the kind 'subscription'; '' for none
        ("holder", true),
        // grows with each change of the holder, and with each change of the cursor that is no delivery
        ("token", false),
        // failed tries of the next one
        ("tries", false),
        // since when it fails, and when it is tried again, by the database's clock; 0 while it does not fail
        ("failing_ms", false),
        ("next_try_ms", false),
        // why the last try failed; '' after a success
        ("last_error", true),
    ],
    is_copied: true,
};

/// How far the messages of each lane of a broker's topic are taken (`intake::positions`). A copy has them: the messages since
/// then are taken again, as entries that the copy does not have.
pub const INTAKE_LANES: Added = Added {
    name: "intake_lanes",
    create: "CREATE TABLE intake_lanes (name TEXT NOT NULL, topic TEXT NOT NULL, lane TEXT NOT NULL, \
             position BIGINT NOT NULL, holder TEXT NOT NULL, token BIGINT NOT NULL, since_ms BIGINT NOT NULL, \
             PRIMARY KEY (name, topic, lane))",
    columns: &[
        // the setting intake.group
        ("name", true),
        // connection, '/', topic or subject
        ("topic", true),
        // partition of Kafka; '0' for NATS
        ("lane", true),
        // the first message that may not be done: offset or sequence; -1 before any was
        ("position", false),
        // instance that takes the messages, as in holders with the kind 'intake'; '' for none
        ("holder", true),
        // grows with each change of the holder
        ("token", false),
        // no effect of a message at or after the position is older, by the database's clock
        ("since_ms", false),
    ],
    is_copied: true,
};

/// Creates those that are missing. The caller holds the lock of migrations.
pub(super) async fn make(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    for table in TABLES {
        // A user without the right to create tables may still use those that are there.
        if !is_there(connection, table.name).await? {
            connection.execute(table.create).await?;
        }
    }
    Ok(())
}

/// Whether a database has this table.
pub(super) async fn is_there(connection: &mut AnyConnection, table: &str) -> Result<bool, sqlx::Error> {
    let text = if connection.backend_name() == "SQLite" {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1"
    } else {
        "SELECT 'found' WHERE to_regclass($1) IS NOT NULL"
    };
    let found: Option<String> = sqlx::query_scalar(text).bind(table).fetch_optional(connection).await?;
    Ok(found.is_some())
}
