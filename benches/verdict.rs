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

const LINES: [Wanted; 42] = [
    wanted(
        "100 jackpots, 64 connections ÷ HTTP alone: entries/s",
        ("one-64x100", "http-64"),
        Of::PerS,
        Limit::AtLeast(0.22),
    ),
    wanted(
        "100 jackpots, 512 connections ÷ HTTP alone: entries/s",
        ("one-512x100", "http-512"),
        Of::PerS,
        Limit::AtLeast(0.3),
    ),
    wanted(
        "single entry, 64 connections ÷ HTTP alone: entries/s",
        ("one-64", "http-64"),
        Of::PerS,
        Limit::AtLeast(0.45),
    ),
    wanted(
        "single entry, 64 connections ÷ HTTP alone: p99",
        ("one-64", "http-64"),
        Of::P99,
        Limit::AtMost(1.5),
    ),
    wanted(
        "single entry, 64 connections ÷ a script call each: entries/s",
        ("one-64", "direct-64"),
        Of::PerS,
        Limit::AtLeast(1.6),
    ),
    wanted(
        "single entry, 64 connections ÷ PostgreSQL row: entries/s",
        ("one-64", "postgres"),
        Of::PerS,
        Limit::AtLeast(20.0),
    ),
    wanted(
        "batches of 1,000 ÷ raw INCR -P 32: entries/s",
        ("batch-1000", "incr"),
        Of::PerS,
        Limit::AtLeast(1.3),
    ),
    wanted(
        "batches of 10,000 ÷ raw INCR -P 32 without an append-only file: entries/s",
        ("batch-10000", "incr-memory"),
        Of::PerS,
        Limit::AtLeast(0.8),
    ),
    wanted(
        "batches of 1,000 ÷ raw INCR -P 32 without an append-only file: entries/s",
        ("batch-1000", "incr-memory"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "batches of 1,000 ÷ PostgreSQL row: entries/s",
        ("batch-1000", "postgres"),
        Of::PerS,
        Limit::AtLeast(20.0),
    ),
    wanted(
        "lone entry ÷ a script call each: median latency",
        ("lone", "lone-direct"),
        Of::P50,
        Limit::AtMost(1.05),
    ),
    wanted(
        "four jackpots in one play ÷ one entry, one connection: median latency",
        ("play-4-lone", "play-1-lone"),
        Of::P50,
        Limit::AtMost(2.0),
    ),
    wanted(
        "issues of a coupon ÷ key and counter script: issues/s",
        ("issue-64", "issue-counter-64"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "issues of a coupon ÷ set script: issues/s",
        ("issue-64", "issue-set-64"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "issues of a coupon ÷ PostgreSQL SELECT … FOR UPDATE: issues/s",
        ("issue-64", "issue-for-update"),
        Of::PerS,
        Limit::AtLeast(20.0),
    ),
    wanted(
        "issues of a coupon, 512 connections ÷ key and counter script: issues/s",
        ("issue-512", "issue-counter-512"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "issues of a coupon, 512 connections ÷ set script: issues/s",
        ("issue-512", "issue-set-512"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "single entry, 512 connections ÷ HTTP alone: entries/s",
        ("one-512", "http-512"),
        Of::PerS,
        Limit::AtLeast(0.55),
    ),
    wanted(
        "100 jackpots, 64 connections ÷ a script call each: entries/s",
        ("one-64x100", "direct-64x100"),
        Of::PerS,
        Limit::AtLeast(2.0),
    ),
    wanted(
        "a webhook gets all payouts ÷ no subscriber: entries/s",
        ("told-payouts", "told-none"),
        Of::PerS,
        Limit::AtLeast(0.95),
    ),
    wanted(
        "a webhook gets all events ÷ no subscriber: entries/s",
        ("told-webhook", "told-none"),
        Of::PerS,
        Limit::AtLeast(0.95),
    ),
    wanted(
        "a webhook that hangs ÷ no subscriber: entries/s",
        ("told-hangs", "told-none"),
        Of::PerS,
        Limit::AtLeast(0.95),
    ),
    wanted(
        "deliveries to a webhook ÷ events of a busy jackpot: per second",
        ("deliver-webhook", "told-events"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "deliveries to NATS ÷ events of a busy jackpot: per second",
        ("deliver-nats", "told-events"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "deliveries to Kafka ÷ events of a busy jackpot: per second",
        ("deliver-kafka", "told-events"),
        Of::PerS,
        Limit::AtLeast(1.0),
    ),
    wanted(
        "messages of NATS ÷ single entry, 64 connections: entries/s",
        ("intake-nats", "one-64"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "messages of Kafka ÷ single entry, 64 connections: entries/s",
        ("intake-kafka", "one-64"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "single entry, 512 connections ÷ HTTP alone: p99",
        ("one-512", "http-512"),
        Of::P99,
        Limit::None,
    ),
    wanted(
        "single entry, 512 connections ÷ a script call each: entries/s",
        ("one-512", "direct-512"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "100 jackpots ÷ 1 jackpot, 64 connections: entries/s",
        ("one-64x100", "one-64"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "single entry, 64 connections ÷ Redis lock, 64 clients: entries/s",
        ("one-64", "lock"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "single entry, 64 connections ÷ raw INCR -P 32: entries/s",
        ("one-64", "incr"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "batches of 1,000 ÷ EVALSHA of an increment -P 32: entries/s",
        ("batch-1000", "evalsha"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "at a fixed rate ÷ HTTP alone: p99",
        ("paced", "paced-http"),
        Of::P99,
        Limit::None,
    ),
    wanted(
        "at a fixed rate ÷ a script call each: p99",
        ("paced", "paced-direct"),
        Of::P99,
        Limit::None,
    ),
    wanted(
        "four jackpots in one play ÷ one entry, 64 connections: median latency",
        ("play-4-64", "play-1-64"),
        Of::P50,
        Limit::None,
    ),
    wanted(
        "four jackpots in one play ÷ one entry, 64 connections: calls/s",
        ("play-4-64", "play-1-64"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "deliveries to NATS ÷ a webhook, 1 subject: per second",
        ("deliver-nats", "deliver-webhook"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "deliveries to Kafka ÷ a webhook, 1 subject: per second",
        ("deliver-kafka", "deliver-webhook"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "deliveries to a webhook, 16 subjects ÷ 1 subject: per second",
        ("deliver-webhook-16", "deliver-webhook"),
        Of::PerS,
        Limit::None,
    ),
    wanted(
        "single entries beside batches of 10,000 ÷ without: p50",
        ("beside-batches", "beside-none"),
        Of::P50,
        Limit::None,
    ),
    wanted(
        "single entries beside batches of 10,000 ÷ without: p99",
        ("beside-batches", "beside-none"),
        Of::P99,
        Limit::None,
    ),
];

const fn wanted(what: &'static str, points: (&'static str, &'static str), of: Of, limit: Limit) -> Wanted {
    Wanted {
        what,
        ours: points.0,
        theirs: points.1,
        of,
        limit,
    }
}

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
