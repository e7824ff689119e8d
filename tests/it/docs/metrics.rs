//! The reference of metrics is made from what the registry encodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use jackpot::telemetry::{
    ClaimResult, EntryResult, IssueResult, JoinResult, Limit, MessageResult, Metrics, RoomNews, ScriptResult,
    TierShown, Unsettled, UnsettledLabels,
};
use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;

use super::{cell, files_below, head, hold, top};

use crate::support::prelude::*;

/// Label names whose values are ids, routes, or the caller's: the page does not list them.
const OPEN_LABELS: [&str; 13] = [
    "jackpot", "coupon", "room", "script", "route", "method", "status", "tier", "currency", "version", "lane", "topic",
    "source",
];

/// A metric as Prometheus sees it.
#[derive(Debug, Default, PartialEq)]
struct Metric {
    kind: String,
    help: String,
    /// Values of each label, over all samples.
    labels: BTreeMap<String, BTreeSet<String>>,
}

/// Every metric with every value of its closed labels: a family without a sample is not encoded.
fn touched() -> Metrics {
    let metrics = Metrics::new();
    let jackpot = metrics.jackpot("spring");
    jackpot.entries(EntryResult::Accepted, 1);
    jackpot.claim(ClaimResult::Paid);
    metrics.reversed("spring", Some("lobby"));
    metrics.coupons.coupon("gift").issues(IssueResult::Issued, 1);
    let room = metrics.rooms.room("lobby");
    room.join(JoinResult::Admitted);
    room.see(&RoomNews::default());
    for result in [ScriptResult::Ok, ScriptResult::Error] {
        metrics.script("enter", result, Duration::ZERO);
    }
    metrics.request(&"/healthz".into(), "GET", 200, Duration::ZERO);
    for limit in Limit::ALL {
        metrics.rate_limited(limit);
    }
    metrics.connections.closed("full");
    let id = Id::parse("spring").expect("an id");
    let tier = TierShown {
        tier: &id,
        currency: Currency::parse("EUR").expect("a code"),
        pool: 0,
        paid: 0,
        payouts: 0,
        reversed: 0,
    };
    metrics.pools.show(&id, std::iter::once(tier));
    let kind = |state: &str, age: &str| Unsettled {
        labels: UnsettledLabels {
            jackpot: id.to_string(),
            currency: "EUR".to_owned(),
            state: state.to_owned(),
            age: age.to_owned(),
        },
        payouts: 0,
        amount: 0,
    };
    let open = [
        ("held", "hour"),
        ("due", "day"),
        ("failed", "week"),
        ("void-requested", "older"),
    ];
    metrics
        .settlement
        .show(open.map(|(state, age)| kind(state, age)).into());
    metrics.subjects("jackpot", "open", 1);
    for result in [MessageResult::Taken, MessageResult::Refused, MessageResult::Unreadable] {
        metrics.intake.done(result);
    }
    metrics.intake.can_read("requests", "0", true);
    metrics.intake.show("0", 0, 0);
    metrics.subscriptions.delivered("accounting");
    metrics.subscriptions.failed("accounting");
    metrics.subscriptions.show(vec![("accounting".to_owned(), 0, false)]);
    for kind in ["jackpot", "coupon", "room"] {
        metrics.ledger.lag(kind, &id, 0);
        metrics.ledger.stopped(kind, &id, false);
        metrics.ledger.mismatch(kind, &id);
        metrics.ledger.restored(kind, &id);
        for reason in ["lost", "ledger-stopped", "suspended", "backlog"] {
            metrics.ledger.refused(kind, reason, 0);
        }
    }
    metrics
}

/// `{name="value",…}` of a sample.
fn labels(sample: &str) -> Vec<(&str, &str)> {
    let Some((_, rest)) = sample.split_once('{') else {
        return Vec::new();
    };
    let (all, _) = rest.rsplit_once('}').expect("its end");
    let pairs = all.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name, value.trim_matches('"'))).collect()
}

/// Metrics by the name under which Prometheus stores them: a counter's ends in `_total`.
fn parse(text: &str) -> BTreeMap<String, Metric> {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            name.clone_into(&mut current);
            help.clone_into(&mut metrics.entry(current.clone()).or_default().help);
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            kind.clone_into(&mut metrics.entry(name.to_owned()).or_default().kind);
        } else if !line.starts_with('#') {
            let metric = metrics.entry(current.clone()).or_default();
            for (name, value) in labels(line).into_iter().filter(|(name, _)| *name != "le") {
                metric
                    .labels
                    .entry(name.to_owned())
                    .or_default()
                    .insert(value.to_owned());
            }
        }
    }
    let stored = |(name, metric): (String, Metric)| match metric.kind.as_str() {
        "counter" => (format!("{name}_total"), metric),
        _ => (name, metric),
    };
    metrics.into_iter().map(stored).collect()
}

fn label_cell(labels: &BTreeMap<String, BTreeSet<String>>) -> String {
    let one = |(name, values): (&String, &BTreeSet<String>)| {
        let open = OPEN_LABELS.contains(&name.as_str()) || values.len() < 2;
        let values = values.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        if open {
            format!("`{name}`")
        } else {
            format!("`{name}`: {values}")
        }
    };
    labels.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn page(metrics: &BTreeMap<String, Metric>) -> String {
    let mut page = head("Metrics", "the metrics that crates/kernel/src/telemetry registers");
    page += "`/metrics` answers OpenMetrics or Prometheus' text format (`Accept`), on `http.metrics_listen` if that is set. Times are in seconds.\n\
             A label of an id has a value for each of the first 1,000 jackpots, coupons and rooms; the others share `other`.\n\
             A metric of the ledger has one of the labels `jackpot`, `coupon` and `room`.\n\
             What to alert on: [monitor](../how-to/monitor.md).\n\n\
             | metric | type | labels | what it counts |\n| --- | --- | --- | --- |\n";
    for (name, metric) in metrics {
        let help = cell(metric.help.trim_end_matches('.'));
        writeln!(
            page,
            "| `{name}` | {} | {} | {help} |",
            metric.kind,
            label_cell(&metric.labels)
        )
        .expect("a text takes all");
    }
    page
}

/// Names that the sources declare, without the prefix.
fn registered() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files_below(&top().join("crates/kernel/src"), "rs") {
        let text = fs::read_to_string(file).expect("a source");
        let blocks = text.split("\nmetrics! {\n").skip(1);
        for block in blocks.filter_map(|rest| rest.split("\n}\n").next()) {
            let declared = block.split(" = \"").skip(1);
            names.extend(declared.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    names
}

#[test]
fn the_page_of_metrics_is_that_of_the_registry() {
    let metrics = parse(&touched().encode().expect("metrics"));
    for name in registered() {
        let stored = [format!("jackpot_{name}"), format!("jackpot_{name}_total")];
        let there = stored.iter().any(|name| metrics.contains_key(name));
        assert!(there, "`touched` makes no sample of {name}");
    }
    // Those of the process come from a collector, under names that all Prometheus libraries give them.
    let own = metrics.keys().filter(|name| !name.starts_with("process_"));
    assert_eq!(registered().len(), own.count(), "each metric is registered once");
    hold("metrics.md", &page(&metrics));
}

#[test]
fn a_metric_has_its_help_its_type_and_its_labels() {
    let text = "# HELP jackpot_a What, of it.\n# TYPE jackpot_a counter\njackpot_a_total{jackpot=\"x\",result=\"ok\"} 1\n\
                jackpot_a_total{jackpot=\"x\",result=\"error\"} 1\n# EOF\n";
    let metrics = parse(text);
    let row = "| `jackpot_a_total` | counter | `jackpot`; `result`: error, ok | What, of it |";
    page(&metrics).says(row);
}
