//! The codes of issued units, judged by code of its own: `docs/decisions/0015-coupons.md`, Codes.

use std::collections::BTreeMap;

use crate::coupon::evidence::Evidence;

const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const MODULUS: usize = 1021;

/// No two are alike, and each passes its check.
pub fn are_distinct_and_right(evidence: &Evidence) -> Result<String, String> {
    let mut owners = BTreeMap::new();
    for issue in evidence.issues() {
        let (code, sequence) = (issue.unit.code.as_str(), issue.unit.sequence);
        check(code).map_err(|wrong| format!("the code {code} of sequence {sequence} {wrong}"))?;
        if let Some(other) = owners.insert(code, sequence) {
            return Err(format!("sequences {other} and {sequence} have the same code {code}"));
        }
    }
    Ok(format!("{} codes", owners.len()))
}

/// Three groups of six; the last two digits are what the number of the first 16 leaves when divided by 1021.
fn check(code: &str) -> Result<(), &'static str> {
    let groups: Vec<&str> = code.split('-').collect();
    if groups.len() != 3 || groups.iter().any(|group| group.chars().count() != 6) {
        return Err("is not three groups of six characters");
    }
    let digits = groups
        .concat()
        .chars()
        .map(|digit| DIGITS.find(digit))
        .collect::<Option<Vec<_>>>();
    let digits = digits.ok_or("has a character that is none of Crockford's")?;
    let (number, written) = digits.split_at(16);
    let rest = number.iter().fold(0, |rest, digit| (rest * 32 + digit) % MODULUS);
    if [rest / 32, rest % 32] == written {
        Ok(())
    } else {
        Err("has wrong check characters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coupon::answer::Outcome;
    use crate::coupon::check::fixture;

    #[test]
    fn the_check_agrees_with_numbers_worked_out_by_hand() {
        // 32^2 = 1024 leaves 3; 2^79 = (2^10)^7 * 2^9 leaves 3^7 * 512 = 2187 * 512, 2187 leaves 145, 74240 leaves 728.
        for good in [
            "000000-000000-000000",
            "000000-000000-000101",
            "000000-000000-010003",
            "G00000-000000-0000PR",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for wrong in [
            "000000-000000-000102",
            "000000-000000-001001",
            "0000000-00000-000000",
            "00000000000000000000",
            "00000O-000000-000000",
            "000000-000000-00000u",
            "",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_code_and_a_double_are_found() {
        let found = |other: bool| {
            let mut evidence = fixture::honest("--duplicates 1");
            let call = fixture::first(&evidence, |outcome| {
                outcome.unit().is_some_and(|unit| unit.sequence == 5)
            });
            let code = evidence.issues()[2].unit.code.clone();
            let unit = fixture::unit(&mut evidence, call);
            unit.code = if other { code } else { unit.code.replace('5', "6") };
            assert!(matches!(evidence.calls[call].outcome, Ok(Outcome::Issued(_))));
            are_distinct_and_right(&evidence).unwrap_err()
        };
        assert!(found(true).contains("sequences 3 and 5"));
        assert!(found(false).contains("check characters") || found(false).contains("same code"));
    }
}
