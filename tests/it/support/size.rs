//! What `make test`, `make check` and `make nightly` differ in. Each runs with the profile of nextest that has its name.

use proptest::test_runner::Config;

/// Times the cases of property tests in `make nightly`.
const MORE_CASES: u32 = 10;

fn runs_in(command: &str) -> bool {
    std::env::var("NEXTEST_PROFILE").is_ok_and(|profile| profile == command)
}

/// How much a test does: `short`, or in `make nightly` `long`. Tests that ask are named in `tests/gates/long`.
pub fn size<N>(short: N, long: N) -> N {
    if runs_in("nightly") { long } else { short }
}

/// For property tests of so many cases, and ten times as many in `make nightly`. Failures are not kept in files.
pub fn cases(short: u32) -> Config {
    Config {
        cases: size(short, short * MORE_CASES),
        failure_persistence: None,
        ..Config::default()
    }
}

/// For what `make test` does without.
///
/// # Panics
/// When a test of `make test` asks for it.
pub fn not_in_make_test(what: &str) {
    assert!(
        !runs_in("test"),
        "{what} is for make check: name this test in tests/gates/check"
    );
}
