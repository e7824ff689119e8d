//! Violations of rules in a definition that was put.

use crate::text;

/// Longest name of anything, in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// A field that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field, such as `odds.ranks[0].weight`.
    pub field: String,
    /// The rule, for the sender.
    pub rule: String,
}

impl Violation {
    /// A violation of `rule` by `field`.
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            rule: rule.into(),
        }
    }
}

/// Checks the name for people in a new PUT. It must be a [`text`](mod@crate::text).
pub fn check_new_name(name: &str) -> Result<(), Vec<Violation>> {
    text::check(name, MAX_NAME_CHARS).map_err(|wrong| vec![Violation::new("name", wrong.to_string())])
}

/// The checked value, or all violations of the rest and of the new name.
pub fn name_and_rest<T>(
    name: Result<(), Vec<Violation>>,
    rest: Result<T, Vec<Violation>>,
) -> Result<T, Vec<Violation>> {
    match (name, rest) {
        (Ok(()), rest) => rest,
        (Err(wrong), Ok(_)) => Err(wrong),
        (Err(mut wrong), Err(rest)) => {
            // The rules for old names find the same violation.
            wrong.extend(rest.into_iter().filter(|violation| violation.field != "name"));
            Err(wrong)
        }
    }
}

/// The violation of a name for people that may be old: earlier versions refused less.
#[must_use]
pub fn check_name(name: &str) -> Option<Violation> {
    let fits = (1..=MAX_NAME_CHARS).contains(&name.chars().count());
    (!fits || name.chars().any(char::is_control)).then(|| {
        Violation::new(
            "name",
            format!("must be 1 to {MAX_NAME_CHARS} characters, none of them a control character"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_a_text_and_an_old_one_has_no_control_characters() {
        let longest = "x".repeat(MAX_NAME_CHARS);
        for good in ["a", &*longest] {
            assert!(check_new_name(good).is_ok() && check_name(good).is_none(), "{good}");
        }
        for bad in ["", "a\nb", &format!("{longest}x")] {
            let wrong = check_new_name(bad).expect_err("refused");
            assert_eq!(wrong[0].field, "name", "{bad}");
            assert_eq!(
                check_name(bad).map(|wrong| wrong.field),
                Some("name".to_owned()),
                "{bad}"
            );
        }
        assert!(check_new_name("a\u{2028}b").is_err() && check_name("a\u{2028}b").is_none());
    }

    #[test]
    fn a_name_is_named_once_among_all_that_is_wrong() {
        let fields = |all: Result<(), Vec<Violation>>| {
            let all = all.err().unwrap_or_default();
            all.into_iter().map(|wrong| wrong.field).collect::<Vec<_>>()
        };
        let name = || Err(vec![Violation::new("name", "new")]);
        let rest = || Err(vec![Violation::new("name", "old"), Violation::new("odds", "x")]);
        assert_eq!(fields(name_and_rest(name(), rest())), ["name", "odds"]);
        assert_eq!(fields(name_and_rest(name(), Ok(()))), ["name"]);
        assert_eq!(fields(name_and_rest(Ok(()), rest())), ["name", "odds"]);
        assert_eq!(name_and_rest(Ok(()), Ok(7)), Ok(7));
    }
}
