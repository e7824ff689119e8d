//! Compares Redis with the ledger: promise 1 for each tier, term by term, and the rest of the state.
//!
//! Pure. In millionths of a minor unit, for each tier and on each side:
//! opening + contributions + funding + transfers in + voided + skipped = pool + reserve + overflow + remainder + paid + transfers out.
//! A tier opens with nothing, and money moves only between the meters of one tier, so opening and both transfers are
//! 0.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::money::MICRO;

use jackpot_kernel::ledger::reconcile::report::{Difference, Report, StateRow, Term, TierReport};

/// The meters and the state of a jackpot at one event, from one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetersAndState {
    /// By `tier:meter`, as `lua/jackpot/tiers.lua` names meters. A meter that is not there is 0: readers of Redis
    /// have already refused a missing one.
    pub meters: BTreeMap<String, i64>,
    /// By name: the parts of the state that decide, and the numbers of records.
    pub state: BTreeMap<String, String>,
}

/// Compares both sides at the same event.
pub fn compare(redis: &MetersAndState, ledger: &MetersAndState) -> Report {
    // Only the ledger knows what skipped events left unexplained; both sides' identities count it.
    let mut redis = redis.clone();
    let skipped = ledger.meters.iter().filter(|(name, _)| is_skipped(split(name).1));
    redis.meters.extend(skipped.map(|(name, value)| (name.clone(), *value)));
    let redis = &redis;
    let names = redis.meters.keys().chain(ledger.meters.keys());
    let tiers: BTreeSet<_> = names.map(|name| split(name).0).collect();
    let tiers: Vec<_> = tiers
        .into_iter()
        .map(|tier| compare_tier(tier, redis, ledger))
        .collect();
    let state = compare_state(redis, ledger);
    let clean = tiers.iter().all(|tier| tier.agrees && tier.identity_holds) && state.iter().all(|row| row.agrees);
    Report { clean, tiers, state }
}

/// What skipped events left unexplained.
fn is_skipped(meter: &str) -> bool {
    matches!(meter, "skipped" | "skipped_micro")
}

/// `tier:meter`; a name without a tier is a meter of the tier ''.
fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

struct Side<'a> {
    tier: &'a str,
    meters: &'a BTreeMap<String, i64>,
}

impl Side<'_> {
    fn meter(&self, meter: &str) -> i64 {
        let name = format!("{}:{meter}", self.tier);
        self.meters.get(&name).copied().unwrap_or_default()
    }

    /// The terms, in the order of the identity.
    fn terms(&self) -> Vec<(&'static str, i64)> {
        let mut terms = vec![
            ("opening", 0),
            ("contributions", self.meter("contributed")),
            ("contributions_micro", self.meter("contributed_micro")),
            (
                "funding",
                self.meter("funded")
                    .saturating_sub(self.meter("transferred_in"))
                    .saturating_sub(self.meter("expected"))
                    .saturating_sub(self.meter("voided")),
            ),
            ("transfers_in", self.meter("transferred_in")),
            ("voided", self.meter("voided")),
            ("pool", self.meter("pool")),
            ("reserve", self.meter("reserve")),
            ("overflow", self.meter("overflow")),
            (
                "remainder_micro",
                self.meter("pool_micro").saturating_add(self.meter("reserve_micro")),
            ),
            ("paid", self.meter("paid")),
            ("transfers_out", self.meter("transferred_out")),
            (
                "funding_micro",
                self.meter("funded_micro")
                    .saturating_sub(self.meter("transferred_in_micro")),
            ),
            ("transfers_in_micro", self.meter("transferred_in_micro")),
            ("transfers_out_micro", self.meter("transferred_out_micro")),
            ("reversed", self.meter("reversed")),
            ("reversed_micro", self.meter("reversed_micro")),
        ];
        let skipped = ["skipped", "skipped_micro"].map(|name| (name, self.meter(name)));
        terms.extend(skipped.into_iter().filter(|(_, value)| *value != 0));
        terms
    }

    fn identity_holds(&self) -> bool {
        let micro = i128::try_from(MICRO).expect("a million fits");
        let sum = |whole: &[&str], fraction: &[&str]| {
            let whole: i128 = whole.iter().map(|meter| i128::from(self.meter(meter))).sum();
            let fraction: i128 = fraction.iter().map(|meter| i128::from(self.meter(meter))).sum();
            whole * micro + fraction
        };
        sum(
            &["contributed", "funded", "skipped"],
            &["contributed_micro", "funded_micro", "skipped_micro"],
        ) == sum(
            &[
                "pool",
                "reserve",
                "overflow",
                "paid",
                "reversed",
                "transferred_out",
                "expected",
            ],
            &["pool_micro", "reserve_micro", "reversed_micro", "transferred_out_micro"],
        )
    }
}

fn compare_tier(tier: &str, redis: &MetersAndState, ledger: &MetersAndState) -> TierReport {
    let [r, l] = [redis, ledger].map(|side| Side {
        tier,
        meters: &side.meters,
    });
    let terms = r
        .terms()
        .into_iter()
        .zip(l.terms())
        .map(|((term, redis), (_, ledger))| Term {
            term: term.to_owned(),
            redis,
            ledger,
        });
    let names = redis.meters.keys().chain(ledger.meters.keys()).map(|name| split(name));
    let meters: BTreeSet<_> = names.filter(|(of, _)| *of == tier).map(|(_, meter)| meter).collect();
    let differences: Vec<_> = meters
        .into_iter()
        .filter(|meter| r.meter(meter) != l.meter(meter))
        .map(|meter| Difference {
            meter: meter.to_owned(),
            redis: r.meter(meter),
            ledger: l.meter(meter),
        })
        .collect();
    TierReport {
        tier: tier.to_owned(),
        terms: terms.collect(),
        identity_holds: r.identity_holds() && l.identity_holds(),
        agrees: differences.is_empty(),
        differences,
    }
}

fn compare_state(redis: &MetersAndState, ledger: &MetersAndState) -> Vec<StateRow> {
    let names: BTreeSet<_> = redis.state.keys().chain(ledger.state.keys()).collect();
    let of = |side: &MetersAndState, name: &str| side.state.get(name).cloned().unwrap_or_else(|| "missing".to_owned());
    let rows = names.into_iter();
    rows.map(|name| StateRow::of(name, &of(redis, name), &of(ledger, name)))
        .collect()
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
