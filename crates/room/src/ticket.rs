//! A ticket's id, and its random order before the opening. Pure except for [`Ticket::random`].

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::secret::MasterSecret;
use jackpot_core::wire::Field;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use jackpot_kernel::random::{self, RandomError};

/// 128 random bits, as 32 lower-case hexadecimal digits. A ticket is a secret: knowing it is holding its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ticket(u128);

/// The expected form, for a text that is no ticket.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("must be 32 hexadecimal digits in lower case")]
pub struct InvalidTicket;

impl Ticket {
    /// A new one, from the operating system's randomness.
    pub fn random() -> Result<Self, RandomError> {
        random::bytes().map(|bytes| Self(u128::from_be_bytes(bytes)))
    }

    /// The ticket of the nth join by a join token; `jti` is the token's random part. So a repeated request finds the
    /// first one's ticket, and the number of joins is known without a list of tokens.
    pub fn of_token(room: &Id, user: &PersonId, jti: &str, nth: u32) -> Self {
        let digest = Sha256::digest(format!("join-token\n{room}\n{user}\n{nth}\n{jti}"));
        let (half, _) = digest.as_slice().split_at(16);
        Self(half.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }

    /// Parses a ticket.
    pub fn parse(text: &str) -> Result<Self, InvalidTicket> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != 32 || !digits {
            return Err(InvalidTicket);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| InvalidTicket)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Field for Ticket {
    const TYPE: &'static str = "ticket";
    const PATTERN: &'static str = "%x+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl From<Ticket> for String {
    fn from(ticket: Ticket) -> Self {
        ticket.to_string()
    }
}

impl TryFrom<String> for Ticket {
    type Error = InvalidTicket;

    fn try_from(text: String) -> Result<Self, InvalidTicket> {
        Self::parse(&text)
    }
}

/// The secret of the order before the opening, published after it.
#[derive(Clone, PartialEq, Eq)]
pub struct OrderSeed([u8; 32]);

/// Bits of an order: a Redis score holds as many exactly, with a sign.
const ORDER_BITS: u32 = 52;

impl OrderSeed {
    /// `HMAC-SHA256(master_secret, "room-order\n{room}\n{nonce}")`.
    pub fn of(secret: &MasterSecret, room: &Id, nonce: &str) -> Self {
        Self(hmac(secret.bytes(), &format!("room-order\n{room}\n{nonce}")))
    }

    /// Parses its hexadecimal digits, as published.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// The commitment, published before the opening: SHA-256 of the seed, in hexadecimal digits.
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.0))
    }

    /// The seed itself, in hexadecimal digits: only after the opening.
    pub fn reveal(&self) -> String {
        hex::encode(self.0)
    }

    /// The order of a ticket among those made before the opening, smallest first: the first 52 bits of
    /// HMAC-SHA256(seed, ticket), minus 2^52. So all are below zero and stand before all later ones.
    pub fn order(&self, ticket: Ticket) -> i64 {
        let hash = hmac(&self.0, &ticket.to_string());
        let first = u64::from_be_bytes(hash[..8].try_into().expect("eight of 32 bytes")) >> (64 - ORDER_BITS);
        i64::try_from(first).expect("52 bits") - (1 << ORDER_BITS)
    }
}

impl fmt::Debug for OrderSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderSeed(hidden)")
    }
}

fn hmac(key: &[u8], message: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length of key is right");
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_has_one_text() {
        let ticket = Ticket::random().unwrap();
        assert_eq!(Ticket::parse(&ticket.to_string()), Ok(ticket));
        assert_eq!(Ticket(7).to_string(), "00000000000000000000000000000007");
        let upper = "A".repeat(32);
        for wrong in [
            "",
            "7",
            upper.as_str(),
            "+0000000000000000000000000000007",
            &"0".repeat(33),
        ] {
            assert_eq!(Ticket::parse(wrong), Err(InvalidTicket), "{wrong}");
        }
    }

    /// Checked with Python: `hmac.new(bytes([0x5f] * 32), b"room-order\nlobby\n00112233445566778899aabbccddeeff", "sha256")`,
    /// and so on.
    #[test]
    fn the_order_is_what_anybody_computes() {
        let seed = OrderSeed::of(&MasterSecret::new([0x5f; 32]), &Id::parse("lobby").unwrap(), NONCE);
        assert_eq!(seed.reveal(), SEED);
        assert_eq!(seed.commitment(), COMMITMENT);
        assert_eq!(seed.order(Ticket(7)), ORDER);
        assert_eq!(OrderSeed::from_hex(SEED), Some(seed));
        assert_eq!(OrderSeed::from_hex("5f"), None);
    }

    const NONCE: &str = "00112233445566778899aabbccddeeff";
    const SEED: &str = "68a95f7057604d6c975e5962d38cc9db21054c08eff12c90068f9a298e188850";
    const COMMITMENT: &str = "de3f0ef9a974e19ec8401e3755937f0ae24535206087aba4c864f4c4ac5f944d";
    const ORDER: i64 = -4_245_120_487_671_306;
}
