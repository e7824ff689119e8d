//! The code of an issued unit: unique, unguessable, and checkable without a look-up. Pure except for [`Code::random`].

use std::fmt;

use jackpot_core::wire::Field;
use serde::{Serialize, Serializer};
use thiserror::Error;

use jackpot_kernel::random::{self, RandomError};

/// Crockford's base32 (<https://www.crockford.com/base32.html>): no I, L, O, U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters with the random bits, 5 each.
const RANDOM_CHARS: usize = RANDOM_BYTES * 8 / 5;
/// 80 bits: among a billion codes of one coupon, the odds of two equal ones are one in two million.
const RANDOM_BYTES: usize = 10;
/// The characters of the bits, and the two check characters.
const CHARS: usize = RANDOM_CHARS + 2;
/// A `-` separates groups of this length.
const GROUP: usize = 6;
/// The largest prime below 32². The places of a character differ by factors of 32. So the prime divides neither the
/// change of one wrong character, d·32^k with d below 32, nor that of two exchanged neighbours, 31·d·32^k.
const MODULUS: u128 = 1021;

/// A code: 80 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u128);

/// The expected form, for a text that is no code.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must be 18 characters of Crockford's base32 in three groups; the last two characters are check digits")]
pub struct InvalidCode;

impl Field for Code {
    const TYPE: &'static str = "code";
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl Code {
    /// A new one, from the operating system's randomness.
    pub fn random() -> Result<Self, RandomError> {
        random::bytes().map(Self::from_bytes)
    }

    /// The code of these random bytes.
    pub fn from_bytes(bytes: [u8; RANDOM_BYTES]) -> Self {
        Self(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }

    /// Reads a code and checks its check characters.
    pub fn parse(text: &str) -> Result<Self, InvalidCode> {
        let bytes = text.as_bytes();
        if bytes.len() != CHARS + CHARS / GROUP - 1 {
            return Err(InvalidCode);
        }
        let mut number = 0;
        for (i, byte) in bytes.iter().enumerate() {
            if i % (GROUP + 1) == GROUP {
                (*byte == b'-').then_some(()).ok_or(InvalidCode)?;
                continue;
            }
            let digit = ALPHABET.iter().position(|c| c == byte).ok_or(InvalidCode)?;
            number = number << 5 | digit as u128;
        }
        let (code, check) = (number >> 10, number & 0x3ff);
        (code % MODULUS == check).then_some(Self(code)).ok_or(InvalidCode)
    }
}

impl fmt::Display for Code {
    /// Three groups of six, a `-` between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = (self.0 << 10) | (self.0 % MODULUS);
        let mut text = String::with_capacity(CHARS + CHARS / GROUP - 1);
        for i in 0..CHARS {
            if i > 0 && i % GROUP == 0 {
                text.push('-');
            }
            let digit = (number >> (5 * (CHARS - 1 - i))) & 31;
            text.push(char::from(ALPHABET[digit as usize]));
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({self})")
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Code> {
        let mut codes = [0x00, 0xff, 0x5a].map(|byte| Code::from_bytes([byte; 10])).to_vec();
        codes.extend((0..20).map(|_| Code::random().expect("random")));
        codes
    }

    #[test]
    fn a_code_comes_back_from_its_text() {
        for code in samples() {
            let text = code.to_string();
            assert_eq!(text.len(), 20, "{text}");
            assert_eq!(Code::parse(&text), Ok(code));
        }
        assert_eq!(Code::from_bytes([0; 10]).to_string(), "000000-000000-000000");
        // 2^80 - 1 = 1021 * q + 675, and 675 = 21 * 32 + 3.
        assert_eq!(
            Code::from_bytes([255; 10]).to_string(),
            format!("ZZZZZZ-ZZZZZZ-ZZZZ{}", check_of_all_ones())
        );
    }

    fn check_of_all_ones() -> String {
        let mut remainder = 0_u32;
        for _ in 0..80 {
            remainder = (remainder * 2 + 1) % 1021;
        }
        [remainder / 32, remainder % 32]
            .iter()
            .map(|digit| char::from(ALPHABET[*digit as usize]))
            .collect()
    }

    #[test]
    fn every_single_wrong_character_is_found() {
        for code in samples() {
            let text = code.to_string();
            for at in (0..text.len()).filter(|at| at % 7 != 6) {
                for wrong in ALPHABET.iter().filter(|c| **c != text.as_bytes()[at]) {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] = *wrong;
                    let wrong = String::from_utf8(bytes).expect("ASCII");
                    assert_eq!(Code::parse(&wrong), Err(InvalidCode), "{wrong} for {text}");
                }
            }
        }
    }

    #[test]
    fn every_exchange_of_neighbours_is_found() {
        let places = (0..20).filter(|at| at % 7 != 6).collect::<Vec<_>>();
        for code in samples() {
            let text = code.to_string();
            for pair in places.windows(2) {
                let mut bytes = text.clone().into_bytes();
                bytes.swap(pair[0], pair[1]);
                let wrong = String::from_utf8(bytes).expect("ASCII");
                assert!(
                    wrong == text || Code::parse(&wrong) == Err(InvalidCode),
                    "{wrong} for {text}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        let good = Code::from_bytes([7; 10]).to_string();
        let lower = good.to_lowercase();
        let long = format!("{good}0");
        let other_groups = good.replacen('-', "0", 1);
        for wrong in [
            "",
            &good[1..],
            &long,
            &lower,
            &other_groups,
            "ÄÄÄÄÄÄÄÄÄÄ",
            "OOOOOO-OOOOOO-OOOOOO",
        ] {
            assert_eq!(Code::parse(wrong), Err(InvalidCode), "{wrong}");
        }
    }
}
