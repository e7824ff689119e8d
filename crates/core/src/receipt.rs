//! The documents that the ledger signs: the receipt of a payout, and the head of a jackpot's chain. Both can be checked
//! offline with the public keys of `/v1/keys`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;
use crate::currency::Currency;
use crate::ids::{Id, PersonId};
use crate::jackpot::derived::event_id;
use crate::money::Minor;
use crate::signing::{Jwks, KeyPair, VerifyError, signed_text};

use crate::chain::ChainHash;

/// A receipt before it is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsignedReceipt {
    pub payout_id: String,
    pub jackpot_id: Id,
    pub entry_id: String,
    pub player_id: PersonId,
    pub tier: Id,
    pub amount: Minor,
    pub currency: Currency,
    pub claim_order: u64,
    pub pool_before: Minor,
    pub pool_after: Minor,
    /// Time of the payment, in ms of Redis' clock.
    pub paid_at_ms: i64,
    /// The history in which it was paid.
    pub history: String,
    /// Number of the event that paid.
    pub n: u64,
    /// Index of the payout in that event, from 0.
    pub i: u64,
}

/// A payout, signed: who got how much of what, in which order. Amounts are in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Made by the service.
    #[schema(example = "4d0ad2ff0fb81f1d1a8ae2b1f8cbf0b5")]
    pub payout_id: String,
    /// Which jackpot paid.
    #[schema(value_type = String, example = "spring")]
    pub jackpot_id: Id,
    /// For which entry.
    #[schema(example = "round-8812-p7")]
    pub entry_id: String,
    /// To whom.
    #[schema(value_type = String, example = "p7")]
    pub player_id: PersonId,
    /// Out of which tier.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// Minor units.
    #[schema(value_type = u64, example = 18_811)]
    pub amount: Minor,
    /// ISO 4217, or a game's own.
    #[schema(value_type = String, example = "KRW")]
    pub currency: Currency,
    /// Number of the paid claim within the jackpot, from 1.
    #[schema(example = 4)]
    pub claim_order: u64,
    /// What the pool held before, minor units.
    #[schema(value_type = u64, example = 18_811)]
    pub pool_before: Minor,
    /// What it held after, before it was seeded again.
    #[schema(value_type = u64, example = 0)]
    pub pool_after: Minor,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:45:03.125Z")]
    pub paid_at: String,
    /// The history in which it was paid: 16 hexadecimal digits, other ones after each restore.
    #[schema(example = "9f1c0a44d2b7e633")]
    pub history: String,
    /// Id of its event `payout.created`: `jackpot:<jackpot_id>:<history>:<n>:<i>`.
    #[schema(example = "jackpot:spring:9f1c0a44d2b7e633:8812:0")]
    pub event_id: String,
    /// The key that signed it: `/v1/keys`.
    #[schema(example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    pub key_id: String,
    /// Ed25519 over the RFC 8785 form of the receipt without this member; base64url.
    pub signature: String,
}

impl UnsignedReceipt {
    #[must_use]
    pub fn sign(self, key: &KeyPair) -> Receipt {
        let mut receipt = Receipt {
            payout_id: self.payout_id,
            event_id: event_id(&self.jackpot_id, &self.history, self.n, self.i),
            history: self.history,
            jackpot_id: self.jackpot_id,
            entry_id: self.entry_id,
            player_id: self.player_id,
            tier: self.tier,
            amount: self.amount,
            currency: self.currency,
            claim_order: self.claim_order,
            pool_before: self.pool_before,
            pool_after: self.pool_after,
            paid_at: rfc3339(self.paid_at_ms),
            key_id: key.public().id().to_owned(),
            signature: String::new(),
        };
        receipt.signature = key.sign(&receipt.signed_text()).signature;
        receipt
    }
}

/// The receipt of a void before it is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsignedVoid {
    pub payout_id: String,
    pub jackpot_id: Id,
    pub tier: Id,
    pub amount: Minor,
    /// Time of the void, in ms of Redis' clock.
    pub voided_at_ms: i64,
}

/// A payout that was taken back, signed. The receipt of the payout stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VoidReceipt {
    /// Always `void`.
    #[schema(example = "void")]
    pub kind: String,
    /// Id of the payout.
    #[schema(example = "4d0ad2ff0fb81f1d1a8ae2b1f8cbf0b5")]
    pub payout_id: String,
    /// Who had paid.
    #[schema(value_type = String, example = "spring")]
    pub jackpot_id: Id,
    /// Into whose overflow the money went.
    #[schema(value_type = String, example = "grand")]
    pub tier: Id,
    /// How much.
    #[schema(value_type = u64, example = 18_811)]
    pub amount: Minor,
    /// When, RFC 3339.
    #[schema(example = "2026-11-22T09:00:00.125Z")]
    pub voided_at: String,
    /// Which key of `/v1/keys` signed.
    #[schema(example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    pub key_id: String,
    /// Ed25519 over the RFC 8785 form of this object without this member; base64url.
    pub signature: String,
}

/// `kind` of the receipt of a void.
pub const VOID: &str = "void";

impl UnsignedVoid {
    #[must_use]
    pub fn sign(self, key: &KeyPair) -> VoidReceipt {
        let mut receipt = VoidReceipt {
            kind: VOID.to_owned(),
            payout_id: self.payout_id,
            jackpot_id: self.jackpot_id,
            tier: self.tier,
            amount: self.amount,
            voided_at: rfc3339(self.voided_at_ms),
            key_id: key.public().id().to_owned(),
            signature: String::new(),
        };
        receipt.signature = key.sign(&receipt.signed_text()).signature;
        receipt
    }
}

/// The signed head of a jackpot's chain. A reader who keeps one notices if the history before it was rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Whose chain.
    #[schema(value_type = String, example = "spring")]
    pub jackpot_id: Id,
    /// In which ledger.
    #[schema(example = "0c9a7c1e-2f0d-4d8e-9c1a-6f5b8a3d2e10")]
    pub ledger_id: String,
    /// Number of the last event; 0 before the first.
    #[schema(example = 8812)]
    pub n: u64,
    /// Its hash in the chain, in hexadecimal.
    #[schema(example = "1b1584e55fb6852166e99de01cf21176f848aaed8af2b5f806b6f49922437254")]
    pub hash: String,
    /// When this was signed, RFC 3339.
    #[schema(example = "2026-11-21T06:45:03.125Z")]
    pub at: String,
    /// Which key of `/v1/keys` signed.
    #[schema(example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    pub key_id: String,
    /// Ed25519 over the RFC 8785 form of the head without this member; base64url.
    pub signature: String,
}

impl Head {
    /// Signs the head of a chain at `at_ms`, by the database's clock.
    #[must_use]
    pub fn sign(jackpot_id: Id, ledger_id: &str, n: u64, hash: ChainHash, at_ms: i64, key: &KeyPair) -> Self {
        let mut head = Self {
            jackpot_id,
            ledger_id: ledger_id.to_owned(),
            n,
            hash: hash.to_string(),
            at: rfc3339(at_ms),
            key_id: key.public().id().to_owned(),
            signature: String::new(),
        };
        head.signature = key.sign(&head.signed_text()).signature;
        head
    }
}

macro_rules! signed {
    ($($document:ident)+) => { $(
        impl $document {
            /// The text that the signature covers.
            #[must_use]
            pub fn signed_text(&self) -> String {
                signed_text(self)
            }

            /// Checks that one of these keys signed exactly this.
            pub fn verify(&self, keys: &Jwks) -> Result<(), VerifyError> {
                keys.verify(&self.key_id, &self.signed_text(), &self.signature)
            }
        }
    )+ };
}

signed!(Receipt VoidReceipt Head);

#[cfg(test)]
mod tests;
