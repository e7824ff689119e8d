//! What the benchmark is to show: ratios of medians, each with the limit that was set beforehand.

use serde::Serialize;

use crate::sample::{Sample, Spread};

/// The value of two points that is compared.
#[derive(Debug, Clone, Copy)]
enum Of {
    PerS,
    P50,
    P99,
}

/// One ratio, and its limit if it has one.
struct Wanted {
    what: &'static str,
    ours: &'static str,
    theirs: &'static str,
    of: Of,
    limit: Limit,
}

enum Limit {
    AtLeast(f64),
    AtMost(f64),
    None,
}

/// A ratio as measured.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    /// Ratio of the medians; `None` when one of the points was not measured.
    pub(crate) ratio: Option<f64>,
    /// Ratios of the single rounds.
    pub(crate) rounds: Option<Spread>,
    pub(crate) wanted: Option<String>,
    /// `None` without a limit or without a ratio.
    pub(crate) met: Option<bool>,
}

macro_rules! limit {
    () => {
        Limit::None
    };
    (>= $limit:literal) => {
        Limit::AtLeast($limit)
    };
    (<= $limit:literal) => {
        Limit::AtMost($limit)
    };
}

/// A value of two points, `ours / theirs`, with the limit of the ratio if it has one, and what it says.
macro_rules! ratios {
    ($($of:ident: $ours:literal / $theirs:literal $([$is:tt $limit:literal])?, $what:literal;)*) => {
        [$(Wanted {
            what: $what,
            ours: $ours,
            theirs: $theirs,
            of: Of::$of,
            limit: limit!($($is $limit)?),
        }),*]
    };
}

const LINES: [Wanted; 42] = ratios! {
    PerS: "one-64x100" / "http-64" [>= 0.22], "100 jackpots, 64 connections ÷ HTTP alone: entries/s";
    PerS: "one-512x100" / "http-512" [>= 0.3], "100 jackpots, 512 connections ÷ HTTP alone: entries/s";
    PerS: "one-64" / "http-64" [>= 0.45], "single entry, 64 connections ÷ HTTP alone: entries/s";
    P99: "one-64" / "http-64" [<= 1.5], "single entry, 64 connections ÷ HTTP alone: p99";
    PerS: "one-64" / "direct-64" [>= 1.6], "single entry, 64 connections ÷ a script call each: entries/s";
    PerS: "one-64" / "postgres" [>= 20.0], "single entry, 64 connections ÷ PostgreSQL row: entries/s";
    PerS: "batch-1000" / "incr" [>= 1.3], "batches of 1,000 ÷ raw INCR -P 32: entries/s";
    PerS: "batch-10000" / "incr-memory" [>= 0.8], "batches of 10,000 ÷ raw INCR -P 32 without an append-only file: entries/s";
    PerS: "batch-1000" / "incr-memory", "batches of 1,000 ÷ raw INCR -P 32 without an append-only file: entries/s";
    PerS: "batch-1000" / "postgres" [>= 20.0], "batches of 1,000 ÷ PostgreSQL row: entries/s";
    P50: "lone" / "lone-direct" [<= 1.05], "lone entry ÷ a script call each: median latency";
    P50: "play-4-lone" / "play-1-lone" [<= 2.0], "four jackpots in one play ÷ one entry, one connection: median latency";
    PerS: "issue-64" / "issue-counter-64" [>= 1.0], "issues of a coupon ÷ key and counter script: issues/s";
    PerS: "issue-64" / "issue-set-64" [>= 1.0], "issues of a coupon ÷ set script: issues/s";
    PerS: "issue-64" / "issue-for-update" [>= 20.0], "issues of a coupon ÷ PostgreSQL SELECT … FOR UPDATE: issues/s";
    PerS: "issue-512" / "issue-counter-512" [>= 1.0], "issues of a coupon, 512 connections ÷ key and counter script: issues/s";
    PerS: "issue-512" / "issue-set-512" [>= 1.0], "issues of a coupon, 512 connections ÷ set script: issues/s";
    PerS: "one-512" / "http-512" [>= 0.55], "single entry, 512 connections ÷ HTTP alone: entries/s";
    PerS: "one-64x100" / "direct-64x100" [>= 2.0], "100 jackpots, 64 connections ÷ a script call each: entries/s";
    PerS: "told-payouts" / "told-none" [>= 0.95], "a webhook gets all payouts ÷ no subscriber: entries/s";
    PerS: "told-webhook" / "told-none" [>= 0.95], "a webhook gets all events ÷ no subscriber: entries/s";
    PerS: "told-hangs" / "told-none" [>= 0.95], "a webhook that hangs ÷ no subscriber: entries/s";
    PerS: "deliver-webhook" / "told-events" [>= 1.0], "deliveries to a webhook ÷ events of a busy jackpot: per second";
    PerS: "deliver-nats" / "told-events" [>= 1.0], "deliveries to NATS ÷ events of a busy jackpot: per second";
    PerS: "deliver-kafka" / "told-events" [>= 1.0], "deliveries to Kafka ÷ events of a busy jackpot: per second";
    PerS: "intake-nats" / "one-64", "messages of NATS ÷ single entry, 64 connections: entries/s";
    PerS: "intake-kafka" / "one-64", "messages of Kafka ÷ single entry, 64 connections: entries/s";
    P99: "one-512" / "http-512", "single entry, 512 connections ÷ HTTP alone: p99";
    PerS: "one-512" / "direct-512", "single entry, 512 connections ÷ a script call each: entries/s";
    PerS: "one-64x100" / "one-64", "100 jackpots ÷ 1 jackpot, 64 connections: entries/s";
    PerS: "one-64" / "lock", "single entry, 64 connections ÷ Redis lock, 64 clients: entries/s";
    PerS: "one-64" / "incr", "single entry, 64 connections ÷ raw INCR -P 32: entries/s";
    PerS: "batch-1000" / "evalsha", "batches of 1,000 ÷ EVALSHA of an increment -P 32: entries/s";
    P99: "paced" / "paced-http", "at a fixed rate ÷ HTTP alone: p99";
    P99: "paced" / "paced-direct", "at a fixed rate ÷ a script call each: p99";
    P50: "play-4-64" / "play-1-64", "four jackpots in one play ÷ one entry, 64 connections: median latency";
    PerS: "play-4-64" / "play-1-64", "four jackpots in one play ÷ one entry, 64 connections: calls/s";
    PerS: "deliver-nats" / "deliver-webhook", "deliveries to NATS ÷ a webhook, 1 subject: per second";
    PerS: "deliver-kafka" / "deliver-webhook", "deliveries to Kafka ÷ a webhook, 1 subject: per second";
    PerS: "deliver-webhook-16" / "deliver-webhook", "deliveries to a webhook, 16 subjects ÷ 1 subject: per second";
    P50: "beside-batches" / "beside-none", "single entries beside batches of 10,000 ÷ without: p50";
    P99: "beside-batches" / "beside-none", "single entries beside batches of 10,000 ÷ without: p99";
};

/// All ratios, those with a limit first.
pub(crate) fn lines(samples: &[Sample]) -> Vec<Line> {
    LINES.iter().map(|wanted| line(wanted, samples)).collect()
}

fn line(wanted: &Wanted, samples: &[Sample]) -> Line {
    let values = |point: &str| -> Vec<(usize, f64)> {
        let of_point = samples.iter().filter(|sample| sample.point == point);
        of_point
            .map(|sample| (sample.round, value(wanted.of, sample)))
            .collect()
    };
    let (ours, theirs) = (values(wanted.ours), values(wanted.theirs));
    let median = |values: &[(usize, f64)]| Spread::of(values.iter().map(|(_, value)| *value)).map(|s| s.median);
    let ratio = median(&ours).zip(median(&theirs)).map(|(ours, theirs)| ours / theirs);
    let each = ours.iter().filter_map(|(round, ours)| {
        let (_, theirs) = theirs.iter().find(|(of, _)| of == round)?;
        Some(ours / theirs)
    });
    let (text, met) = match wanted.limit {
        Limit::AtLeast(limit) => (Some(format!("≥ {limit}")), ratio.map(|ratio| ratio >= limit)),
        Limit::AtMost(limit) => (Some(format!("≤ {limit}")), ratio.map(|ratio| ratio <= limit)),
        Limit::None => (None, None),
    };
    Line {
        what: wanted.what,
        ratio,
        rounds: Spread::of(each),
        wanted: text,
        met,
    }
}

fn value(of: Of, sample: &Sample) -> f64 {
    match of {
        Of::PerS => sample.per_s,
        Of::P50 => sample.p50_us,
        Of::P99 => sample.p99_us,
    }
}
