//! Environment variables that look like settings and are none.

use std::ffi::OsString;

use super::layer::PREFIX;

/// The prefix of our variables.
const OURS: &str = "JACKPOT_";

/// Other variables of ours: the name of the settings file, and variables for tests.
const READ_ELSEWHERE: [&str; 2] = ["JACKPOT_ENV", "JACKPOT_TEST_"];

/// Most names in the warning.
const MAX_NAMES: usize = 20;

/// Finds names such as `JACKPOT_PORT`. Orchestrators set them for a service of this name, so they are no error.
/// Somebody may have left out a `_`, so the service warns. It never looks at values.
pub(super) fn unknown(variables: &[(OsString, OsString)]) -> Vec<String> {
    let is_unknown = |name: &String| {
        let is_read = |known: &&str| name == known || (known.ends_with('_') && name.starts_with(*known));
        name.starts_with(OURS) && !name.starts_with(PREFIX) && !READ_ELSEWHERE.iter().any(is_read)
    };
    let names = variables.iter().map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(is_unknown).collect();
    names.sort();
    names.truncate(MAX_NAMES);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_setting_is_named_without_its_value() {
        let set = |name: &str| (OsString::from(name), OsString::from("value"));
        let all = [
            "PATH",
            "JACKPOT",
            "JACKPOT_ENV",
            "JACKPOT_TEST_BINARY",
            "JACKPOT__HTTP__LISTEN",
            "JACKPOT_PORT",
            "JACKPOT_SERVICE_HOST",
            "JACKPOT_HTTP__LISTEN",
            "jackpot_port",
            "JACKPOT_ENVIRONMENT",
        ];
        let names = unknown(&all.map(set));
        assert_eq!(
            names,
            [
                "JACKPOT_ENVIRONMENT",
                "JACKPOT_HTTP__LISTEN",
                "JACKPOT_PORT",
                "JACKPOT_SERVICE_HOST"
            ]
        );
        let many: Vec<_> = (0..100).map(|i| set(&format!("JACKPOT_{i}"))).collect();
        assert_eq!(unknown(&many).len(), MAX_NAMES);
    }
}
