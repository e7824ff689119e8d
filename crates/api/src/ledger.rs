//! The ledger of a jackpot: postings, sources, adjustments and transfers.

use jackpot_core::jackpot::transfer::Part;
use jackpot_kernel::ledger::api::csv::{self, Record};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One line of double entry. The lines of one event and tier sum to zero, `micro` included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PostingRow {
    /// Number of the event in its jackpot.
    #[schema(example = 8820)]
    pub n: i64,
    /// The same as an id: `<jackpot_id>:<n>`.
    #[schema(example = "spring:8820")]
    pub event_id: String,
    /// Number of the line in the event.
    #[schema(example = 1)]
    pub line: i64,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub at: String,
    /// Of which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// contributions, pool, reserve, overflow, remainder, payouts or funding
    #[schema(example = "pool")]
    pub account: String,
    /// Minor units, debit positive.
    #[schema(example = 1)]
    pub amount: i64,
    /// Millionths of a minor unit, on top of `amount`.
    #[schema(example = 0)]
    pub micro: i64,
}

impl Record for PostingRow {
    const HEADER: &'static [&'static str] = &["n", "event_id", "line", "at", "tier", "account", "amount", "micro"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.n.to_string(),
            self.event_id.clone(),
            self.line.to_string(),
            self.at.clone(),
            self.tier.clone(),
            self.account.clone(),
            self.amount.to_string(),
            self.micro.to_string(),
        ]
    }
}

/// What a source has brought and won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceMeters {
    #[schema(example = "slot-9")]
    pub source_id: String,
    /// Entries of the source.
    #[schema(example = 8812)]
    pub entries: i64,
    pub meters: Vec<SourceMeter>,
}

/// What a source has brought to a tier and won from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceMeter {
    #[schema(example = "grand")]
    pub tier: String,
    /// Whole minor units of the exact sum.
    #[schema(example = 1500)]
    pub contributed: i64,
    /// Millionths of a minor unit, on top of `contributed`.
    #[schema(example = 0)]
    pub contributed_micro: i64,
    /// Minor units.
    #[schema(example = 700)]
    pub paid: i64,
    /// Number of payouts.
    #[schema(example = 3)]
    pub payouts: i64,
}

/// An adjustment: money put in, taken out or moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Adjustment {
    #[schema(example = "spring")]
    pub jackpot_id: String,
    #[schema(example = "launch-seed")]
    pub adjustment_id: String,
    #[schema(example = "grand")]
    pub tier: String,
    /// `pool`, `reserve` or `overflow`, where money came in or left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "pool")]
    pub meter: Option<String>,
    /// Of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Minor units; below 0 where money leaves.
    #[schema(example = 500)]
    pub amount: i64,
    #[schema(example = "launch seed")]
    pub reason: String,
    pub state: AdjustmentState,
    /// When it was made or asked for, RFC 3339.
    pub at: String,
    /// Name of the key that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "desk-1")]
    pub who: Option<String>,
    /// Owner of that key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "anna")]
    pub owner: Option<String>,
    /// Name of the key that approved or withdrew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
}

impl Record for Adjustment {
    const HEADER: &'static [&'static str] = &[
        "jackpot_id",
        "adjustment_id",
        "tier",
        "meter",
        "from",
        "to",
        "amount",
        "reason",
        "state",
        "at",
        "who",
        "owner",
        "decided_by",
        "decided_at",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.jackpot_id.clone(),
            self.adjustment_id.clone(),
            self.tier.clone(),
            csv::or_empty(self.meter.as_ref()),
            csv::or_empty(self.from.as_ref()),
            csv::or_empty(self.to.as_ref()),
            self.amount.to_string(),
            csv::harmless(&self.reason),
            self.state.as_str().to_owned(),
            self.at.clone(),
            csv::or_empty(self.who.as_ref()),
            csv::or_empty(self.owner.as_ref()),
            csv::or_empty(self.decided_by.as_ref()),
            csv::or_empty(self.decided_at.as_ref()),
        ]
    }
}

jackpot_core::names! {
    /// Where an adjustment is.
    #[derive(ToSchema)]
    pub enum AdjustmentState {
        /// It waits for a second owner, and has changed nothing.
        Held = "held",
        /// Made.
        Done = "done",
        /// It waited, and is not made any more.
        Withdrawn = "withdrawn",
    }
}

/// A transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransferRow {
    #[schema(example = "end-of-season")]
    pub transfer_id: String,
    /// The jackpot that gave.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// The jackpot that it goes to.
    #[schema(example = "summer")]
    pub to: String,
    /// What each tier gave; of one that is held or withdrawn what it held then.
    pub tiers: Vec<TransferPart>,
    pub state: TransferState,
    /// Owner of the key that asked, where it waits or waited for a second owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Why, where it waits or waited for a second owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Record for TransferRow {
    const HEADER: &'static [&'static str] = &["transfer_id", "jackpot_id", "to", "state", "tiers"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.transfer_id.clone(),
            self.jackpot_id.clone(),
            self.to.clone(),
            self.state.as_str().to_owned(),
            serde_json::to_string(&self.tiers).expect("plain data is JSON"),
        ]
    }
}

jackpot_core::names! {
    /// Where the money of a transfer is.
    #[derive(ToSchema)]
    pub enum TransferState {
        /// It waits for a second owner, and has moved nothing.
        Held = "held",
        /// Given, and not received yet.
        InTransit = "in-transit",
        /// Received.
        Done = "done",
        /// It waited, and moves nothing any more.
        Withdrawn = "withdrawn",
    }
}

/// What one tier gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransferPart {
    #[schema(example = "grand")]
    pub tier: String,
    /// The tier of the other jackpot.
    #[schema(example = "grand")]
    pub to_tier: String,
    /// Minor units.
    #[schema(example = 500)]
    pub pool: u64,
    /// Minor units.
    #[schema(example = 20)]
    pub reserve: u64,
    /// Minor units.
    #[schema(example = 0)]
    pub overflow: u64,
    /// Millionths of a minor unit, of pool and reserve together.
    #[schema(example = 0)]
    pub remainder_micro: u64,
}

impl From<&Part> for TransferPart {
    fn from(part: &Part) -> Self {
        Self {
            tier: part.tier.to_string(),
            to_tier: part.to_tier.to_string(),
            pool: part.pool,
            reserve: part.reserve,
            overflow: part.overflow,
            remainder_micro: part.pool_micro + part.reserve_micro,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_no_formula_of_a_spreadsheet() {
        let adjustment = Adjustment {
            jackpot_id: "spring".to_owned(),
            adjustment_id: "a1".to_owned(),
            tier: "grand".to_owned(),
            meter: Some("pool".to_owned()),
            from: None,
            to: None,
            amount: 500,
            reason: "=HYPERLINK(0)".to_owned(),
            state: AdjustmentState::Done,
            at: "2026-11-21T06:00:00.000Z".to_owned(),
            who: None,
            owner: None,
            decided_by: None,
            decided_at: None,
        };
        let cells = adjustment.cells();
        assert_eq!(cells.len(), Adjustment::HEADER.len());
        assert!(cells.contains(&"'=HYPERLINK(0)".to_owned()), "{cells:?}");
    }
}
