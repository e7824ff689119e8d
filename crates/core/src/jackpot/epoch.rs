//! The periods of the draw, each under a seed of its own.

use serde::{Deserialize, Serialize};

use super::draw::EpochSeed;
use crate::ids::Id;
use crate::secret::Secrets;
use crate::wire::declared;
use crate::wire::event::{Fields, Unreadable};
use crate::wire::{Field, FieldShape, OrDash};
use crate::words;

/// Lengths in hexadecimal digits.
const NONCE_DIGITS: usize = 32;
const SECRET_ID_DIGITS: usize = 16;
const COMMITMENT_DIGITS: usize = 64;

/// The input of an epoch. The service makes it, because scripts have no randomness. From then on all of it is public.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// SHA-256 of its seed, hexadecimal.
    pub commitment: String,
    /// Public input of its seed: 32 hexadecimal digits.
    pub nonce: String,
    /// Id of the master secret, the other input.
    pub secret_id: String,
}

/// A period under one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// From 1.
    pub epoch: u64,
    pub opening: Opening,
    /// Ms of Redis' clock.
    pub opened_ms: i64,
    /// `None` while it is open.
    pub closed_ms: Option<i64>,
}

impl declared::EventPart for Opening {
    fn shapes(_: &'static str, _: &'static str) -> Vec<FieldShape> {
        let text = |name, doc| FieldShape::text(name, doc, "hexadecimal");
        vec![
            text("commitment", "SHA-256 of the seed of the epoch that opened."),
            text("epoch_nonce", "Public input of that seed: 32 hexadecimal digits."),
            text(
                "secret_id",
                "Id of the master secret, the other input: 16 hexadecimal digits.",
            ),
        ]
    }

    fn read(fields: &Fields<'_>, _: &'static str) -> Result<Self, Unreadable> {
        Ok(Self {
            commitment: fields.hex("commitment", COMMITMENT_DIGITS)?,
            nonce: fields.hex("epoch_nonce", NONCE_DIGITS)?,
            secret_id: fields.hex("secret_id", SECRET_ID_DIGITS)?,
        })
    }
}

impl Opening {
    /// Makes the input of this epoch under the current secret. `nonce`: 16 random bytes, never used twice.
    #[must_use]
    pub fn make(secrets: &Secrets, jackpot: &Id, epoch: u64, nonce: [u8; 16]) -> Self {
        let nonce = hex::encode(nonce);
        Self {
            commitment: EpochSeed::derive(secrets.current(), jackpot, epoch, &nonce).commitment(),
            secret_id: secrets.current_id().to_owned(),
            nonce,
        }
    }

    /// The seed of the epoch with this number, if its secret is known.
    #[must_use]
    pub fn seed(&self, secrets: &Secrets, jackpot: &Id, epoch: u64) -> Option<EpochSeed> {
        let secret = secrets.get(&self.secret_id)?;
        Some(EpochSeed::derive(secret, jackpot, epoch, &self.nonce))
    }
}

words! {
    /// An epoch, in the hash `epochs` by its number. Times are in ms of Redis' clock.
    pub struct EpochRecord as "epoch" by ' ' {
        /// SHA-256 of its seed, hexadecimal.
        commitment: String,
        /// When it opened.
        opened: i64,
        /// When it closed; `-` while it is open.
        closed: OrDash<i64>,
        /// Public input of its seed.
        nonce: String,
        /// Id of the master secret, the other input.
        secret: String,
    }
}

impl Epoch {
    /// Its record in Redis.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Opening {
            commitment,
            nonce,
            secret_id,
        } = self.opening.clone();
        let (opened, closed, secret) = (self.opened_ms, OrDash(self.closed_ms), secret_id);
        let record = EpochRecord {
            commitment,
            opened,
            closed,
            nonce,
            secret,
        };
        record.text()
    }

    /// The inverse of [`Epoch::to_text`].
    #[must_use]
    pub fn parse(epoch: u64, text: &str) -> Option<Self> {
        let record = EpochRecord::read(text)?;
        Some(Self {
            epoch,
            opening: Opening {
                commitment: record.commitment,
                nonce: record.nonce,
                secret_id: record.secret,
            },
            opened_ms: record.opened,
            closed_ms: record.closed.0,
        })
    }
}
