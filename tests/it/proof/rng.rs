//! The seven statistical tests of GLI-19 3.2.2 over the real draw: a fixed seed passes, p-values are those of chance, and
//! each test finds the fault that it is for. `jackpot rng-test` says what it did.

use std::process::Output;

use jackpot::proof::randomness::{OUTCOMES, Report, Sample, jackpot, judge};
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::secret::MasterSecret;

use crate::support::prelude::*;

/// The confidence of GLI-19, for each test alone.
const LEAST_P: f64 = 0.01;

fn seed(number: u8) -> EpochSeed {
    EpochSeed::derive(
        &MasterSecret::new([number; 32]),
        &jackpot(),
        1,
        "00112233445566778899aabbccddeeff",
    )
}

fn p_of(report: &Report, test: &str) -> f64 {
    let found = report.tests.iter().find(|one| one.test == test);
    found.unwrap_or_else(|| panic!("{test} is one of the tests")).p
}

#[test]
fn the_draw_of_a_fixed_seed_passes_each_test_at_99_percent() {
    let report = judge(&Sample::draw(&seed(0x5f), 200_000));
    println!("{report}");
    let names = report.tests.iter().map(|one| one.test).collect::<Vec<_>>();
    assert_eq!(
        names,
        [
            "total distribution",
            "overlaps",
            "coupon collector",
            "runs",
            "interplay",
            "serial correlation",
            "duplicates"
        ]
    );
    for one in &report.tests {
        assert!(one.p >= LEAST_P, "{}\n{report}", one.test);
    }
}

/// Over 16 seeds each test has p-values that are spread over 0 to 1 as chance spreads them. A formula that is wrong, or a
/// bound that is too wide, shows here.
#[test]
fn p_values_are_those_of_chance() {
    let reports = (0..16)
        .map(|number| judge(&Sample::draw(&seed(number), 10_000)))
        .collect::<Vec<_>>();
    let names = reports[0].tests.iter().map(|one| one.test);
    for test in names {
        let mut values = reports.iter().map(|report| p_of(report, test)).collect::<Vec<_>>();
        values.sort_unstable_by(f64::total_cmp);
        // Kolmogorov's distance from an even spread; with 16 values 0.392 is its bound at 99 %.
        let distance = (0_u8..16)
            .zip(&values)
            .map(|(below, p)| {
                (f64::from(below) / 16.0 - p)
                    .abs()
                    .max((f64::from(below + 1) / 16.0 - p).abs())
            })
            .fold(0.0, f64::max);
        assert!(distance < 0.392, "{test}: {distance} {values:?}");
    }
}

/// The draw of a fixed seed, damaged.
fn damaged(change: impl FnOnce(&mut Sample)) -> Report {
    let mut sample = Sample::draw(&seed(1), 20_000);
    change(&mut sample);
    judge(&sample)
}

/// Only the first attempt is changed.
fn first(sample: &mut Sample, change: impl Fn(usize, &[u8]) -> u8) {
    let honest = sample.outcomes.iter().map(|attempts| attempts[0]).collect::<Vec<_>>();
    for (index, attempts) in sample.outcomes.iter_mut().enumerate() {
        attempts[0] = change(index, &honest);
    }
}

#[test]
fn each_test_finds_the_fault_that_it_is_for() {
    assert!(damaged(|_| ()).passes(), "undamaged, it passes");
    let one_in_thirty = |index: usize| index.is_multiple_of(30);
    let damages: [(&str, Report); 7] = [
        // One outcome is a little likelier.
        (
            "total distribution",
            damaged(|sample| {
                first(
                    sample,
                    |index, honest| if one_in_thirty(index) { 7 } else { honest[index] },
                );
                for attempts in &mut sample.outcomes {
                    let all = attempts[1..].iter().map(|outcome| u32::from(*outcome)).sum::<u32>();
                    if all.is_multiple_of(29) {
                        attempts[1] = 7;
                    }
                }
            }),
        ),
        // The third outcome follows from the two before it: every pair is as likely as it was.
        (
            "overlaps",
            damaged(|sample| {
                first(sample, |index, honest| {
                    if index % 3 == 2 {
                        (honest[index - 2] + honest[index - 1]) % OUTCOMES
                    } else {
                        honest[index]
                    }
                });
            }),
        ),
        // A bag: ten entries have all ten outcomes.
        (
            "coupon collector",
            damaged(|sample| {
                first(sample, |index, honest| {
                    let bag = index / 10 * 10;
                    u8::try_from((index % 10 * 3 + usize::from(honest[bag])) % 10).expect("an outcome")
                });
            }),
        ),
        // The upper and the lower half change too often.
        (
            "runs",
            damaged(|sample| {
                first(sample, |index, honest| {
                    let half = OUTCOMES / 2;
                    if index % 4 == 1 {
                        let is_upper = honest[index - 1] >= half;
                        honest[index] % half + if is_upper { 0 } else { half }
                    } else {
                        honest[index]
                    }
                });
            }),
        ),
        // A redraw is the draw again, one time in ten.
        (
            "interplay",
            damaged(|sample| {
                for attempts in sample.outcomes.iter_mut().step_by(10) {
                    attempts[2] = attempts[0];
                }
            }),
        ),
        // An outcome comes again seven entries later, one time in ten.
        (
            "serial correlation",
            damaged(|sample| {
                first(sample, |index, honest| {
                    if index.is_multiple_of(10) && index > 7 {
                        honest[index - 7]
                    } else {
                        honest[index]
                    }
                });
            }),
        ),
        // Half of the range is never drawn.
        (
            "duplicates",
            damaged(|sample| sample.tickets.iter_mut().for_each(|ticket| *ticket /= 2)),
        ),
    ];
    for (test, report) in damages {
        assert!(!report.passes() && p_of(&report, test) < 0.001, "{test}\n{report}");
    }
}

/// A counter has every outcome equally often, more evenly than chance has.
#[test]
fn a_draw_that_is_too_even_fails() {
    let report = damaged(|sample| {
        for (index, attempts) in sample.outcomes.iter_mut().enumerate() {
            *attempts = [index; 4].map(|index| u8::try_from(index % 10).expect("an outcome"));
        }
    });
    assert!(p_of(&report, "total distribution") < 0.001, "{report}");
}

fn rng_test(arguments: &[&str]) -> Output {
    let data = Service::directory();
    let arguments = [&["rng-test", "--entries", "10000"], arguments].concat();
    Service::command_in(data.path(), &[], &arguments)
}

#[test]
fn the_command_draws_afresh_prints_p_values_and_repeats_a_run() {
    let (one, other) = (rng_test(&[]), rng_test(&[]));
    let seed_of = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let seed = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("epoch seed "))
            .map(str::to_owned);
        seed.unwrap_or_else(|| panic!("{text}"))
    };
    assert_ne!(seed_of(&one), seed_of(&other), "each run has a secret of its own");
    let text = one.words();
    assert_eq!(text.matches("p = ").count(), 7, "{text}");
    // One honest run in a hundred fails: whichever came, the exit code says the same as the last line.
    let passed = text.contains("passed together at 99 %");
    assert_eq!(one.status.code(), Some(i32::from(!passed)), "{text}");
    let again = rng_test(&["--seed", &seed_of(&one)]);
    assert_eq!((again.stdout, again.status.code()), (one.stdout, one.status.code()));
}

#[test]
fn a_seed_that_is_none_and_too_few_entries_end_with_2() {
    for (arguments, named) in [(["--seed", "5f"], "64 hexadecimal"), (["--entries", "9999"], "10000")] {
        let data = Service::directory();
        let output = Service::command_in(data.path(), &[], &[&["rng-test"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        output.says(named);
    }
}
