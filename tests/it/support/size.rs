//! How much a test does: little in `make test` and `make check`; in `make nightly`, which sets a variable, all of it.

use proptest::test_runner::Config;

/// Set by `scripts/nightly.sh`.
const LONG: &str = "JACKPOT_TEST_LONG";

/// Times the cases of property tests in `make nightly`.
const MORE_CASES: u32 = 10;

/// One of two sizes. Tests that ask for it are named in `tests/gates/long`.
pub fn size<N>(short: N, long: N) -> N {
    if std::env::var_os(LONG).is_some() { long } else { short }
}

/// For property tests of so many cases, and ten times as many in `make nightly`. Failures are not kept in files.
pub fn cases(short: u32) -> Config {
    Config {
        cases: size(short, short * MORE_CASES),
        failure_persistence: None,
        ..Config::default()
    }
}
