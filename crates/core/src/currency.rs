//! The minor units of currencies, by ISO 4217. Every page and text shows amounts by this table alone: the tables of
//! browsers, which follow the Unicode CLDR, differ from it for some thirty codes.

use iso_currency::Currency;

/// The decimals of a currency; `None` for a code that ISO 4217 does not have, such as a game's own points.
#[must_use]
pub fn known_digits(code: &str) -> Option<u32> {
    let currency = Currency::from_code(code)?;
    Some(currency.exponent().map_or(0, u32::from))
}

/// The decimals of a currency; 0 for a code that ISO 4217 does not have.
#[must_use]
pub fn digits(code: &str) -> u32 {
    known_digits(code).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of ISO 4217, amendment 176: codes of more or fewer than 2 decimals.
    #[test]
    fn decimals_are_those_of_the_standard() {
        let exceptions = [
            (
                0,
                "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF XAU",
            ),
            (3, "BHD IQD JOD KWD LYD OMR TND"),
            (4, "CLF UYW"),
            (2, "EUR HUF USD TWD COP IDR IRR LBP PKR AFN ALL MMK SYP TZS UZS YER MGA"),
        ];
        for (wanted, codes) in exceptions {
            for code in codes.split(' ') {
                assert_eq!(digits(code), wanted, "{code}");
            }
        }
        assert_eq!((known_digits("GEM"), digits("GEM")), (None, 0));
    }
}
