//! Amounts as people read them: in the unit of the currency, with its symbol, thousands apart. The arithmetic is whole.

use jackpot_core::currency::{Amount, Currency};

use crate::Language;

/// An amount as people read it. A code that ISO 4217 does not have, such as a game's own points, is shown in minor units
/// with the code.
#[must_use]
pub fn money(language: Language, amount: Amount) -> String {
    let Amount { minor, currency } = amount;
    let sign = if minor < 0 { "−" } else { "" };
    let Some(digits) = currency.known_digits() else {
        return format!("{sign}{} {currency}", grouped(minor.unsigned_abs()));
    };
    let (scale, digits) = (10_u128.pow(digits), usize::try_from(digits).unwrap_or(0));
    let (whole, rest) = (minor.unsigned_abs() / scale, minor.unsigned_abs() % scale);
    let number = if digits == 0 {
        grouped(whole)
    } else {
        format!("{}.{rest:0digits$}", grouped(whole))
    };
    match symbol(language, currency) {
        Some(symbol) => format!("{sign}{symbol}{number}"),
        None => format!("{sign}{currency}\u{a0}{number}"),
    }
}

/// An amount as an operator writes it in the unit of the currency, such as `1,234.5`, in minor units. `None`: no amount, or
/// more digits than the currency has.
#[must_use]
pub fn parse(text: &str, currency: Currency) -> Option<i64> {
    let text = text.trim().replace(',', "");
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(text) => (-1, text),
        None => (1, text.as_str()),
    };
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = usize::try_from(currency.digits()).unwrap_or(0);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > digits || !is_number(whole) || !is_number(rest) {
        return None;
    }
    let minor: i64 = format!("{whole}{rest:0<digits$}").parse().ok()?;
    Some(sign * minor)
}

/// Minor units of a currency as an operator writes them: without symbol, thousands together.
#[must_use]
pub fn plain(amount: u64, currency: Currency) -> String {
    let scale = 10_u64.pow(currency.digits());
    match usize::try_from(currency.digits()).unwrap_or(0) {
        0 => amount.to_string(),
        digits => format!("{}.{:0digits$}", amount / scale, amount % scale),
    }
}

/// Parts per million in percent, without zeros at the end.
#[must_use]
pub fn percent(ppm: u32) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Percent as an operator writes it, such as `12.5` or `12.5 %`, in parts per million: 0 to 100 with at most 4 digits after
/// the point.
#[must_use]
pub fn parse_percent(text: &str) -> Option<u32> {
    let text = text.trim().trim_end_matches('%').trim_end();
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > 4 || !is_number(whole) || !is_number(rest) {
        return None;
    }
    let ppm: u32 = format!("{whole}{rest:0<4}").parse().ok()?;
    (ppm <= 1_000_000).then_some(ppm)
}

/// As in the Unicode CLDR: a symbol that is not ambiguous for readers of this language.
fn symbol(language: Language, currency: Currency) -> Option<&'static str> {
    Some(match (currency.as_str(), language) {
        ("EUR", _) => "€",
        ("GBP", _) => "£",
        ("KRW", _) => "₩",
        ("USD", Language::En) => "$",
        ("USD", Language::Ko) => "US$",
        ("JPY", Language::En) => "¥",
        ("JPY", Language::Ko) => "JP¥",
        ("CNY", _) => "CN¥",
        ("AUD", _) => "A$",
        ("CAD", _) => "CA$",
        ("NZD", _) => "NZ$",
        ("HKD", _) => "HK$",
        ("INR", _) => "₹",
        ("BRL", _) => "R$",
        _ => return None,
    })
}

/// Thousands apart: `18,811`. English and Korean write it the same way.
#[must_use]
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).expect("a code")
    }

    #[test]
    fn amounts_are_shown_in_the_unit_of_their_currency() {
        let en = |minor: i128, code| money(Language::En, currency(code).amount(minor));
        assert_eq!(en(18_811, "KRW"), "₩18,811");
        assert_eq!(en(18_811, "EUR"), "€188.11");
        assert_eq!(en(5, "EUR"), "€0.05");
        assert_eq!(en(-1_234_567, "USD"), "−$12,345.67");
        assert_eq!(en(1_234, "KWD"), "KWD\u{a0}1.234");
        assert_eq!(en(1_234, "GEM"), "1,234 GEM");
        assert_eq!(money(Language::Ko, currency("USD").amount(100)), "US$1.00");
        assert_eq!(en(i128::from(u64::MAX), "JPY"), "¥18,446,744,073,709,551,615");
    }

    #[test]
    fn an_amount_is_read_exactly_or_not_at_all() {
        assert_eq!(parse("188.11", currency("EUR")), Some(18_811));
        assert_eq!(parse(" 1,234.5 ", currency("EUR")), Some(123_450));
        assert_eq!(parse("-3", currency("EUR")), Some(-300));
        assert_eq!(parse("18811", currency("KRW")), Some(18_811));
        for (text, code) in [
            ("1.234", "EUR"),
            ("1.5", "KRW"),
            ("", "EUR"),
            (".5", "EUR"),
            ("1e3", "EUR"),
            ("0x10", "EUR"),
            ("99999999999999999999", "KRW"),
            ("1.-5", "EUR"),
        ] {
            assert_eq!(parse(text, currency(code)), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (amount, code, text) in [(18_811, "EUR", "188.11"), (5, "EUR", "0.05"), (18_811, "KRW", "18811")] {
            assert_eq!(plain(amount, currency(code)), text);
        }
        for (ppm, text) in [
            (1_000_000, "100"),
            (15_000, "1.5"),
            (1, "0.0001"),
            (0, "0"),
            (100_000, "10"),
        ] {
            assert_eq!(percent(ppm), text);
            assert_eq!(parse_percent(text), Some(ppm));
        }
        assert_eq!(parse_percent("12.5 %"), Some(125_000));
        for wrong in ["", "100.0001", "101", "-1", "1.00001", ".5", "x"] {
            assert_eq!(parse_percent(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
