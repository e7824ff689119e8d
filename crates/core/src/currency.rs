//! Money: a currency and an amount of it. Every page and text shows amounts by the minor units of ISO 4217 alone: the tables
//! of browsers, which follow the Unicode CLDR, differ from it for some thirty codes.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

/// Longest code of a currency.
const MAX_LEN: usize = 8;

/// An invalid code. The message states the rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must match [A-Z][A-Z0-9]{{2,7}}")]
pub struct InvalidCurrency;

/// The code of a currency, `[A-Z][A-Z0-9]{2,7}`: one of ISO 4217, or a game's own points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency {
    /// Zeros follow the code.
    code: [u8; MAX_LEN],
}

impl Currency {
    /// Parses a code that a client sent.
    pub fn parse(text: &str) -> Result<Self, InvalidCurrency> {
        let bytes = text.as_bytes();
        let is_right = bytes.first().is_some_and(u8::is_ascii_uppercase)
            && (3..=MAX_LEN).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        if !is_right {
            return Err(InvalidCurrency);
        }
        let mut code = [0; MAX_LEN];
        code[..bytes.len()].copy_from_slice(bytes);
        Ok(Self { code })
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let end = self.code.iter().position(|byte| *byte == 0).unwrap_or(MAX_LEN);
        std::str::from_utf8(&self.code[..end]).unwrap_or_default()
    }

    /// The decimals; `None` for a code that ISO 4217 does not have, such as a game's own points.
    #[must_use]
    pub fn known_digits(self) -> Option<u32> {
        let known = iso_currency::Currency::from_code(self.as_str())?;
        Some(known.exponent().map_or(0, u32::from))
    }

    /// The decimals; 0 for a code that ISO 4217 does not have.
    #[must_use]
    pub fn digits(self) -> u32 {
        self.known_digits().unwrap_or(0)
    }

    /// So many minor units of it.
    #[must_use]
    pub fn amount(self, minor: impl Into<i128>) -> Amount {
        Amount {
            minor: minor.into(),
            currency: self,
        }
    }
}

impl FromStr for Currency {
    type Err = InvalidCurrency;

    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        Self::parse(text)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Code;

        impl Visitor<'_> for Code {
            type Value = Currency;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Currency, E> {
                Currency::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Code)
    }
}

/// A currency that may be missing, which is an empty text. Books that an earlier program carried on have it so.
pub mod or_empty {
    use serde::de::{Deserializer, Error};
    use serde::{Deserialize, Serializer};

    use super::Currency;

    /// Writes the code, or an empty text.
    pub fn serialize<S: Serializer>(currency: &Option<Currency>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(currency.as_ref().map_or("", Currency::as_str))
    }

    /// Reads what `serialize` writes.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Currency>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(None);
        }
        Currency::parse(&text).map(Some).map_err(D::Error::custom)
    }
}

/// An amount of money, in minor units of its currency. It may be negative: what a meter or an adjustment changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    pub minor: i128,
    pub currency: Currency,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(code: &str) -> u32 {
        Currency::parse(code).expect("a code").digits()
    }

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
        let own = Currency::parse("GEM").expect("a code");
        assert_eq!((own.known_digits(), own.digits()), (None, 0));
    }

    #[test]
    fn a_currency_has_three_to_eight_letters_or_digits_after_a_letter() {
        for right in ["EUR", "A12", "ABCDEFGH"] {
            let currency = Currency::parse(right).expect(right);
            assert_eq!((currency.as_str(), &*currency.to_string()), (right, right));
            let json = serde_json::to_string(&currency).expect("text");
            assert_eq!(json, format!("\"{right}\""));
            assert_eq!(serde_json::from_str::<Currency>(&json).ok(), Some(currency));
        }
        for wrong in ["", "EU", "ABCDEFGHI", "1UR", "EuR", "eUR", "EU-", "ÉUR"] {
            assert_eq!(Currency::parse(wrong), Err(InvalidCurrency), "{wrong}");
        }
    }
}
