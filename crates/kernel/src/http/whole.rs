//! Integers that are written with a point or an exponent: `100.0` and `1e2` are integers in JSON Schema. They are read
//! digit by digit, because a float would round them.

use std::borrow::Cow;
use std::ops::Range;

/// Largest integer that every JSON reader has exactly, 2^53-1.
const LARGEST: u64 = (1 << 53) - 1;
/// Its digits, and so the longest exponent that counts.
const DIGITS: usize = 16;

/// The text with such numbers written as digits. All else stays as it is, also numbers beyond 2^53-1.
pub(super) fn numbers(text: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        let token = match byte {
            b'"' => string(text, at),
            b'-' | b'0'..=b'9' => number(text, at),
            _ => at..at + 1,
        };
        at = token.end;
        if let Some(digits) = integer(&text[token.clone()]) {
            plain.extend_from_slice(&text[copied..token.start]);
            plain.extend_from_slice(digits.as_bytes());
            copied = token.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    plain.extend_from_slice(&text[copied..]);
    Cow::Owned(plain)
}

fn string(text: &[u8], from: usize) -> Range<usize> {
    let mut at = from + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return from..at + 1,
            _ => at += 1,
        }
    }
    from..text.len()
}

fn number(text: &[u8], from: usize) -> Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    from..from + text[from..].iter().take_while(is_part).count()
}

/// The digits of an integer that has a point or an exponent; `None` for any other text.
fn integer(token: &[u8]) -> Option<String> {
    let token = std::str::from_utf8(token).ok()?;
    let (sign, rest) = token.strip_prefix('-').map_or(("", token), |rest| ("-", rest));
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = are_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(are_digits)
        && exponent.is_none_or(|text| are_digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    if !is_number || (fraction.is_none() && exponent.is_none()) {
        return None;
    }
    let exponent: i64 = exponent.map_or(Some(0), |text| text.parse().ok())?;
    let all = format!("{whole}{}", fraction.unwrap_or_default());
    let digits = all.trim_start_matches('0').trim_end_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // Zeros that follow the digits, and those that the exponent adds.
    let cut = i64::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
    let behind = i64::try_from(fraction.map_or(0, str::len)).ok()?;
    let zeros = usize::try_from(exponent.checked_add(cut - behind)?).ok()?;
    if zeros > DIGITS || digits.len() > DIGITS {
        return None;
    }
    let value: u64 = format!("{digits}{}", "0".repeat(zeros)).parse().ok()?;
    (value <= LARGEST).then(|| format!("{sign}{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        String::from_utf8(numbers(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn integers_in_other_forms_become_digits() {
        for (text, digits) in [
            ("100.0", "100"),
            ("1e2", "100"),
            ("1E+2", "100"),
            ("1.50e1", "15"),
            ("1200e-2", "12"),
            ("-7.000", "-7"),
            ("-0.0", "0"),
            ("0e999999999", "0"),
            ("9007199254740991.0", "9007199254740991"),
            ("90071992547409.91e2", "9007199254740991"),
        ] {
            assert_eq!(plain(text), digits, "{text}");
        }
        let body = r#"{"a\"1.0": "2.0", "b": [1.0,2.0 ,3], "c":-4e0}"#;
        assert_eq!(plain(body), r#"{"a\"1.0": "2.0", "b": [1,2 ,3], "c":-4}"#);
    }

    #[test]
    fn no_other_text_changes() {
        for text in [
            "100.5",
            "100.00000000000000000001",
            "1e-1",
            "9007199254740992.0",
            "9007199254740991.5",
            "1e16",
            "1e999999999999999999999",
            "12",
            "01.0",
            "1.",
            ".5",
            "1.e2",
            "1e",
            "1e+",
            "--1.0",
            "1.0.0",
            "1.0x",
            "\"1.0",
            "\"1.0\\",
            "",
        ] {
            assert_eq!(plain(text), text);
        }
    }
}
