//! What a comparison finds.

use super::*;
use crate::ledger::books::Meters;

const STATE: [(&str, &str); 4] = [
    ("status", "open"),
    ("tiers", "grand 0 -;"),
    ("seen_a", "400"),
    ("next", ""),
];

/// The meters that are compared.
fn names() -> impl Iterator<Item = &'static str> {
    Meters::NAMES.into_iter().chain(["pool_written"])
}

/// 100.25 contributed, 7 put in; 60 in the pool, 20 in reserve, 5 beyond the cap, 22 paid, 0.25 carried.
fn side() -> MetersAndState {
    let held = Meters {
        pool: 60,
        reserve: 20,
        overflow: 5,
        pool_micro: 150_000,
        reserve_micro: 100_000,
        contributed: 100,
        contributed_micro: 250_000,
        funded: 7,
        paid: 22,
        wins: 3,
        ..Meters::default()
    };
    let meters = ["grand", "mini"].into_iter().flat_map(|tier| {
        let values = held.all().into_iter().chain([("pool_written", held.pool)]);
        values.map(move |(meter, value)| (format!("{tier}:{meter}"), value))
    });
    MetersAndState {
        meters: meters.collect(),
        state: STATE.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
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
    assert_eq!(terms[9], ("remainder_micro", 250_000));
}

/// An auditor adds what is shown, fractions that a transfer or a reversal moved included.
#[test]
fn the_terms_that_are_shown_add_up() {
    // 4.3 came, 2.2 went, 1.05 were taken back, and a void gave 1 again: 2.05 more are in the pool.
    let mut moved = side();
    for (meter, value) in [
        ("funded", 12),
        ("funded_micro", 300_000),
        ("transferred_in", 4),
        ("transferred_in_micro", 300_000),
        ("voided", 1),
        ("transferred_out", 2),
        ("transferred_out_micro", 200_000),
        ("reversed", 1),
        ("reversed_micro", 50_000),
        ("pool", 62),
        ("pool_micro", 200_000),
    ] {
        moved.meters.insert(format!("grand:{meter}"), value);
    }
    let report = compare(&moved, &moved);
    let tier = &report.tiers[0];
    assert!(tier.identity_holds, "{tier:?}");
    let sum = |names: &[&str]| -> i64 {
        let own = tier.terms.iter().filter(|term| names.contains(&term.term.as_str()));
        own.map(|term| term.redis * if term.term.ends_with("_micro") { 1 } else { 1_000_000 })
            .sum()
    };
    let came = [
        "opening",
        "contributions",
        "contributions_micro",
        "funding",
        "funding_micro",
        "transfers_in",
        "transfers_in_micro",
        "voided",
    ];
    let went = [
        "pool",
        "reserve",
        "overflow",
        "remainder_micro",
        "paid",
        "transfers_out",
        "transfers_out_micro",
        "reversed",
        "reversed_micro",
    ];
    assert_eq!(came.len() + went.len(), tier.terms.len(), "{tier:?}");
    assert_eq!(sum(&came), sum(&went), "{tier:?}");
}

#[test]
fn one_unit_off_in_any_meter_is_named_and_breaks_the_identity() {
    for meter in names() {
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
            // The identity has neither wins, which are a count, nor `pool_written`, which repeats the pool.
            assert_eq!(
                mini.identity_holds,
                ["wins", "pool_written"].contains(&meter),
                "{meter}"
            );
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
    assert_eq!(report.tiers[1].differences.len(), names().count());
}

#[test]
fn any_other_state_is_compared_too() {
    for (name, _) in STATE {
        let mut off = side();
        off.state.insert(name.to_owned(), "another".to_owned());
        let mut less = side();
        less.state.remove(name);
        assert!(!compare(&less, &side()).clean, "{name}");
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
