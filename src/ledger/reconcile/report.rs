//! What a reconciliation found: promise 1 of each tier, term by term, and the rest of the state.
//!
//! Pure. In millionths of a minor unit, of each tier and on each side:
//! opening + contributions + funding + transfers in = pool + reserve + overflow + remainder + paid + transfers out.
//! A tier opens with nothing, and money moves only between the meters of one tier, so that these three are 0.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::money::MICRO;

/// The meters and the state of a jackpot at one event, from one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetersAndState {
    /// By `tier:meter`, as `lua/jackpot/tiers.lua` names meters. One that is not there is 0: whoever reads Redis
    /// refuses a missing one before.
    pub meters: BTreeMap<String, i64>,
    /// open, paused, suspended or closed.
    pub status: String,
    /// Of the definition in force.
    pub version: u64,
    /// Entries so far.
    pub sequence: u64,
    /// Paid claims so far.
    pub claim_order: u64,
    /// The open epoch.
    pub epoch: u64,
    /// Entries without a final outcome.
    pub pending: u64,
}

/// A term of the identity, from both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Term {
    /// `opening`, `contributions`, `contributions_micro`, `funding`, `transfers_in`, `pool`, `reserve`, `overflow`,
    /// `remainder_micro`, `paid` or `transfers_out`.
    #[schema(example = "pool")]
    pub term: String,
    /// Minor units, or millionths where the name says micro.
    pub redis: i64,
    /// The same in the ledger.
    pub ledger: i64,
}

/// A meter that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// Its name.
    #[schema(example = "pool")]
    pub meter: String,
    /// What Redis has.
    pub redis: i64,
    /// What the ledger has.
    pub ledger: i64,
}

/// Promise 1 of one tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TierReport {
    /// Which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// Each term, from both sides.
    pub terms: Vec<Term>,
    /// Whether the identity holds, on both sides.
    pub identity_holds: bool,
    /// Whether all meters are the same on both sides.
    pub agrees: bool,
    /// Those that are not.
    pub differences: Vec<Difference>,
}

/// A part of the state, from both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateRow {
    /// `status`, `version`, `sequence`, `claim_order`, `epoch` or `pending`; or only `readable`, when it is not.
    #[schema(example = "sequence")]
    pub name: String,
    /// What Redis has.
    pub redis: String,
    /// What the ledger has.
    pub ledger: String,
    /// Whether they are the same.
    pub agrees: bool,
}

/// What a reconciliation found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Whether all of it is as it should be.
    pub clean: bool,
    /// Each tier.
    pub tiers: Vec<TierReport>,
    /// The rest.
    pub state: Vec<StateRow>,
}

/// Compares both sides at the same event.
#[must_use]
pub fn compare(redis: &MetersAndState, ledger: &MetersAndState) -> Report {
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

impl Report {
    /// What is wrong, for a log line; empty when nothing is.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let meters = self.tiers.iter().flat_map(|tier| {
            let broken = (!tier.identity_holds).then(|| format!("tier '{}': the identity does not hold", tier.tier));
            let differ = tier.differences.iter().map(|difference| {
                let Difference { meter, redis, ledger } = difference;
                format!(
                    "tier '{}': {meter} is {redis} in Redis and {ledger} in the ledger",
                    tier.tier
                )
            });
            differ.chain(broken)
        });
        let state = self.state.iter().filter(|row| !row.agrees);
        let state = state.map(|row| {
            format!(
                "{} is {} in Redis and {} in the ledger",
                row.name, row.redis, row.ledger
            )
        });
        meters.chain(state).collect()
    }
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
    fn terms(&self) -> [(&'static str, i64); 11] {
        [
            ("opening", 0),
            ("contributions", self.meter("contributed")),
            ("contributions_micro", self.meter("contributed_micro")),
            ("funding", self.meter("funded")),
            ("transfers_in", 0),
            ("pool", self.meter("pool")),
            ("reserve", self.meter("reserve")),
            ("overflow", self.meter("overflow")),
            (
                "remainder_micro",
                self.meter("pool_micro").saturating_add(self.meter("reserve_micro")),
            ),
            ("paid", self.meter("paid")),
            ("transfers_out", 0),
        ]
    }

    fn identity_holds(&self) -> bool {
        let micro = i128::try_from(MICRO).expect("a million fits");
        let sum = |whole: &[&str], fraction: &[&str]| {
            let whole: i128 = whole.iter().map(|meter| i128::from(self.meter(meter))).sum();
            let fraction: i128 = fraction.iter().map(|meter| i128::from(self.meter(meter))).sum();
            whole * micro + fraction
        };
        sum(&["contributed", "funded"], &["contributed_micro"])
            == sum(
                &["pool", "reserve", "overflow", "paid"],
                &["pool_micro", "reserve_micro"],
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
    let rows = |side: &MetersAndState| {
        [
            ("status", side.status.clone()),
            ("version", side.version.to_string()),
            ("sequence", side.sequence.to_string()),
            ("claim_order", side.claim_order.to_string()),
            ("epoch", side.epoch.to_string()),
            ("pending", side.pending.to_string()),
        ]
    };
    let pairs = rows(redis).into_iter().zip(rows(ledger));
    pairs
        .map(|((name, redis), (_, ledger))| StateRow {
            name: name.to_owned(),
            agrees: redis == ledger,
            redis,
            ledger,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METERS: [&str; 10] = [
        "pool",
        "reserve",
        "overflow",
        "pool_micro",
        "reserve_micro",
        "contributed",
        "contributed_micro",
        "funded",
        "paid",
        "wins",
    ];

    /// 100.25 contributed, 7 put in; 60 in the pool, 20 in reserve, 5 beyond the cap, 22 paid, 0.25 carried.
    fn side() -> MetersAndState {
        let values = [60, 20, 5, 150_000, 100_000, 100, 250_000, 7, 22, 3];
        let meters = ["grand", "mini"].into_iter().flat_map(|tier| {
            METERS
                .iter()
                .zip(values)
                .map(move |(meter, value)| (format!("{tier}:{meter}"), value))
        });
        MetersAndState {
            meters: meters.collect(),
            status: "open".to_owned(),
            version: 3,
            sequence: 400,
            claim_order: 4,
            epoch: 1,
            pending: 2,
        }
    }

    #[test]
    fn sides_that_agree_are_clean_with_each_term_shown() {
        let report = compare(&side(), &side());
        assert!(report.clean, "{:?}", report.faults());
        assert_eq!(report.faults(), [""; 0]);
        assert_eq!(
            report.tiers.iter().map(|t| t.tier.as_str()).collect::<Vec<_>>(),
            ["grand", "mini"]
        );
        let terms: Vec<_> = report.tiers[0]
            .terms
            .iter()
            .map(|t| (t.term.as_str(), t.redis))
            .collect();
        assert_eq!(
            terms[1..4],
            [("contributions", 100), ("contributions_micro", 250_000), ("funding", 7)]
        );
        assert_eq!(terms[8], ("remainder_micro", 250_000));
    }

    #[test]
    fn one_unit_off_in_any_meter_is_named_and_breaks_the_identity() {
        for meter in METERS {
            let mut off = side();
            *off.meters.get_mut(&format!("mini:{meter}")).unwrap() += 1;
            for (redis, ledger) in [(&off, &side()), (&side(), &off)] {
                let report = compare(redis, ledger);
                assert!(!report.clean, "{meter}");
                let [grand, mini] = &report.tiers[..] else {
                    panic!("two tiers")
                };
                assert!(grand.agrees && grand.identity_holds);
                assert_eq!(mini.differences.len(), 1);
                assert_eq!(mini.differences[0].meter, meter);
                // Takes of all are counted, and no money.
                assert_eq!(mini.identity_holds, meter == "wins", "{meter}");
                assert!(report.faults()[0].starts_with(&format!("tier 'mini': {meter} is ")));
            }
        }
    }

    #[test]
    fn errors_that_cancel_each_other_are_still_found() {
        let mut off = side();
        *off.meters.get_mut("grand:pool_micro").unwrap() += 1;
        *off.meters.get_mut("grand:reserve_micro").unwrap() -= 1;
        let report = compare(&off, &side());
        assert!(report.tiers[0].identity_holds && !report.tiers[0].agrees && !report.clean);
        let mut both = side();
        *both.meters.get_mut("grand:paid").unwrap() += 1;
        let report = compare(&both, &both);
        assert!(report.tiers[0].agrees && !report.tiers[0].identity_holds && !report.clean);
    }

    #[test]
    fn a_meter_or_tier_that_one_side_lacks_is_zero_there() {
        let mut less = side();
        less.meters
            .retain(|name, _| name != "grand:wins" && !name.starts_with("mini:"));
        let report = compare(&side(), &less);
        assert_eq!(
            report.tiers[0].differences,
            [Difference {
                meter: "wins".to_owned(),
                redis: 3,
                ledger: 0
            }]
        );
        assert_eq!(report.tiers[1].differences.len(), METERS.len());
    }

    #[test]
    fn any_other_state_is_compared_too() {
        type Change = fn(&mut MetersAndState);
        let changes: [(&str, Change); 6] = [
            ("status", |side| side.status = "paused".to_owned()),
            ("version", |side| side.version += 1),
            ("sequence", |side| side.sequence += 1),
            ("claim_order", |side| side.claim_order += 1),
            ("epoch", |side| side.epoch += 1),
            ("pending", |side| side.pending += 1),
        ];
        for (name, change) in changes {
            let mut off = side();
            change(&mut off);
            let report = compare(&side(), &off);
            let wrong: Vec<_> = report
                .state
                .iter()
                .filter(|row| !row.agrees)
                .map(|row| row.name.as_str())
                .collect();
            assert_eq!((report.clean, wrong), (false, vec![name]));
        }
    }

    #[test]
    fn a_report_comes_back_from_its_json() {
        let report = compare(&side(), &MetersAndState::default());
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
