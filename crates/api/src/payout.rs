//! Payouts: one of a list, and one with all that was done with it. The receipt is `jackpot_core::receipt::Receipt`.

use jackpot_core::clock::rfc3339;
use jackpot_core::jackpot::settlement::{Attempt, Ended, PayoutState, Standing, State};
use jackpot_core::receipt::{Receipt, VoidReceipt};
use jackpot_kernel::ledger::api::csv::{Record, harmless, or_empty};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A payout in a list: its receipt, and what is beside it. The signature is of the receipt alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListedPayout {
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The source of the entry; null if it named none.
    #[schema(example = "slot-9")]
    pub source_id: Option<String>,
    /// Where it is: `paid` where payouts were not tracked when it was claimed.
    pub state: PayoutState,
    /// Name of the key that approved it; null if none did.
    #[schema(example = "approve-of-bob")]
    pub approved_by: Option<String>,
    /// The last attempt to settle it; null before the first.
    pub settlement: Option<SettlementBody>,
    /// Signed when it was taken back; null before.
    pub void_receipt: Option<VoidReceipt>,
}

impl Record for ListedPayout {
    const HEADER: &'static [&'static str] = &[
        "payout_id",
        "jackpot_id",
        "entry_id",
        "player_id",
        "tier",
        "amount",
        "currency",
        "claim_order",
        "pool_before",
        "pool_after",
        "paid_at",
        "history",
        "event_id",
        "key_id",
        "signature",
        "source_id",
        "state",
        "approved_by",
        "settlement_id",
        "settlement_reference",
        "settlement_reason",
        "settlement_at",
        "voided_at",
        "void_key_id",
        "void_signature",
    ];

    fn cells(&self) -> Vec<String> {
        let receipt = &self.receipt;
        let (settlement, void) = (self.settlement.as_ref(), self.void_receipt.as_ref());
        vec![
            receipt.payout_id.clone(),
            receipt.jackpot_id.to_string(),
            receipt.entry_id.clone(),
            receipt.player_id.to_string(),
            receipt.tier.to_string(),
            receipt.amount.to_string(),
            receipt.currency.to_string(),
            receipt.claim_order.to_string(),
            receipt.pool_before.to_string(),
            receipt.pool_after.to_string(),
            receipt.paid_at.clone(),
            receipt.history.clone(),
            receipt.event_id.clone(),
            receipt.key_id.clone(),
            receipt.signature.clone(),
            or_empty(self.source_id.as_ref()),
            self.state.as_str().to_owned(),
            or_empty(self.approved_by.as_ref()),
            or_empty(settlement.map(|settlement| &settlement.settlement_id)),
            or_empty(
                settlement
                    .and_then(|settlement| settlement.reference.as_deref())
                    .map(harmless),
            ),
            or_empty(
                settlement
                    .and_then(|settlement| settlement.reason.as_deref())
                    .map(harmless),
            ),
            or_empty(settlement.map(|settlement| &settlement.at)),
            or_empty(void.map(|void| &void.voided_at)),
            or_empty(void.map(|void| &void.key_id)),
            or_empty(void.map(|void| &void.signature)),
        ]
    }
}

impl ListedPayout {
    /// A tracked payout as it began.
    pub fn begun(receipt: Receipt, state: State, source_id: Option<String>) -> Self {
        Self {
            receipt,
            source_id,
            state: state.into(),
            approved_by: None,
            settlement: None,
            void_receipt: None,
        }
    }

    /// The same payout as it was after a step.
    #[must_use]
    pub fn after(self, standing: Standing) -> Self {
        Self {
            receipt: self.receipt,
            source_id: self.source_id,
            void_receipt: self.void_receipt.filter(|_| standing.state == State::Void),
            state: standing.state.into(),
            approved_by: standing.approved.map(|(key, _)| key),
            settlement: standing.attempt.map(Into::into),
        }
    }
}

/// A payout as lists show it, with all that was done with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Payout {
    #[serde(flatten)]
    pub payout: ListedPayout,
    /// Oldest first: the claim, then each step. Of more than 1,000 steps it has the last 1,000.
    pub steps: Vec<PayoutStepRow>,
}

/// What was done with a payout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PayoutStepRow {
    /// Where the payout was then.
    pub state: PayoutState,
    /// Name of the key; null for the claim.
    #[schema(example = "approve-of-bob")]
    pub who: Option<String>,
    /// Owner of the key; null for the claim.
    #[schema(example = "bob")]
    pub owner: Option<String>,
    /// RFC 3339.
    #[schema(example = "2026-11-22T09:00:00.123Z")]
    pub at: String,
    /// Why; of a settlement its reference; null for the claim.
    #[schema(example = "looks right")]
    pub reason: Option<String>,
}

/// An attempt to settle a payout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettlementBody {
    #[schema(example = "transfer-2211")]
    pub settlement_id: String,
    /// Of the payment, if it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "bank 1", nullable = false)]
    pub reference: Option<String>,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
    /// RFC 3339.
    #[schema(example = "2026-11-22T09:00:00.123Z")]
    pub at: String,
}

impl From<Attempt> for SettlementBody {
    fn from(attempt: Attempt) -> Self {
        let (reference, reason) = match attempt.ended {
            Ended::Settled => (Some(attempt.text), None),
            Ended::Failed => (None, Some(attempt.text)),
        };
        Self {
            settlement_id: attempt.settlement_id,
            reference,
            reason,
            at: rfc3339(attempt.at_ms),
        }
    }
}
