//! An event that could not be applied and that an operator skipped, as the ledger keeps it: in its place in the chain,
//! under its own number, with the very event inside it, why it was skipped, and what is carried on from it.
//!
//! The record has such an event in place of the one in Redis' stream, with the fields
//!
//! | field | what |
//! | --- | --- |
//! | `n`, `at`, `type` | its number; its time, or that of the event before it; `skipped` |
//! | `raw` | the event in the stream, canonical JSON; empty when there was none with this number |
//! | `why` | why it could not be applied |
//! | `reason`, `who`, `request_id`, `skipped_at` | who skipped it, why, and when (ms of the database's clock) |
//! | `meters`, `applied` | of a jackpot: the money that it moved, booked against `skipped` where it does not balance |
//! | `carried` | JSON: the books after it, and the records, payouts and rows that it made as far as they are known |
//!
//! So the hash of the chain covers all of it, and whoever replays the events (projector, restore, `jackpot verify`) needs
//! nothing else.

use std::collections::BTreeMap;

use jackpot_core::chain;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::epoch::Opening;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::event::Unreadable;
use super::event::parse::Fields;

/// The type of such an event.
pub const TYPE: &str = "skipped";

/// An event that was skipped. `C` is what is carried on from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped<C> {
    /// As it is in the stream, canonical JSON; empty when there was none with this number.
    pub raw: String,
    /// Why it could not be applied.
    pub why: String,
    /// Why it was skipped.
    pub reason: String,
    /// What is carried on.
    pub carried: C,
}

impl<C: DeserializeOwned> Skipped<C> {
    /// Reads what all kinds have in common.
    pub(in crate::ledger) fn parse(fields: &Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            raw: fields.text("raw")?.to_owned(),
            why: fields.text("why")?.to_owned(),
            reason: fields.text("reason")?.to_owned(),
            carried: fields.read("carried", |json| serde_json::from_str(json).ok())?,
        })
    }
}

/// The event in the stream that an event of the record stands for: itself, or the one inside a skipped one; `None` when
/// the stream had none with this number.
#[must_use]
pub fn of_stream(body: &str) -> Option<String> {
    let marker = format!("\"type\":\"{TYPE}\"");
    if !body.contains(&marker) {
        return Some(body.to_owned());
    }
    let Ok(mut fields) = serde_json::from_str::<BTreeMap<String, String>>(body) else {
        return Some(body.to_owned());
    };
    if fields.get("type").is_none_or(|kind| kind != TYPE) {
        return Some(body.to_owned());
    }
    fields.remove("raw").filter(|raw| !raw.is_empty())
}

/// Whether an event of the stream is the one that the ledger has as its last one.
#[must_use]
pub fn is_last(fields: &BTreeMap<String, String>, last_body: &str) -> bool {
    of_stream(last_body).is_some_and(|body| body == chain::body(fields))
}

/// What is carried on from a jackpot's event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The books after it.
    pub books: super::books::Books,
    /// Idempotency records that it made or ended, as Redis had them when it was skipped.
    pub records: Vec<CarriedRecord>,
    /// What was sent with the entries that it took, as far as that is known.
    pub entries: Vec<CarriedEntry>,
    /// Money that it paid.
    pub paid: Vec<CarriedPayout>,
    /// Units of coupons that it recorded.
    pub units: Vec<CarriedUnit>,
    /// Definitions that it put, JSON by version.
    pub definitions: Vec<(u64, String)>,
    /// Versions that Redis does not keep any more since.
    pub dropped_versions: Vec<u64>,
    /// Epochs that it opened, what opened them, and when, ms.
    pub epochs: Vec<(u64, Opening, i64)>,
    /// Epochs that it closed, and when, ms.
    pub closed_epochs: Vec<(u64, i64)>,
    /// Adjustments that it made: id, digest and time, ms.
    pub adjustments: Vec<(String, String, i64)>,
}

/// An idempotency record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedRecord {
    /// The entry, or the field of a batch's own record.
    pub id: String,
    /// Whether this event took it.
    pub first: bool,
    /// The event that took it: it decides the generation.
    pub entered_n: u64,
    /// As Redis had it.
    pub text: String,
}

/// What was sent with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedEntry {
    /// Number of the entry.
    pub sequence: u64,
    /// Its id.
    pub entry_id: String,
    /// `player stake client_seed`.
    pub sent: String,
    /// What it had won when it was skipped, 0 for nothing.
    pub rank: u32,
    /// Whether that is final.
    pub settled: bool,
}

/// Money that was paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedPayout {
    /// Number of the entry.
    pub sequence: u64,
    /// The entry.
    pub entry_id: String,
    /// Who played; `None` when that can't be read: then there is no receipt, only the record.
    pub player_id: Option<Id>,
    /// By which rank.
    pub rank: u32,
    /// Out of which tier.
    pub tier: Id,
    /// Minor units.
    pub amount: u64,
    /// Number of the paid claim.
    pub claim_order: u64,
    /// What the pool held before it; `None` as above.
    pub pool_before: Option<u64>,
}

/// A unit of a coupon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedUnit {
    /// Number of the entry.
    pub sequence: u64,
    /// The entry.
    pub entry_id: String,
    /// Who played.
    pub player_id: Id,
    /// By which rank.
    pub rank: u32,
    /// Which coupon.
    pub coupon_id: Id,
    /// Number of the issue within the coupon.
    pub coupon_sequence: u64,
    /// Its code.
    pub code: String,
}

/// What is carried on from a coupon's event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedCoupon {
    /// The books after it.
    pub books: super::coupons::books::Books,
    /// Records of requests that it made or changed, by request id: as Redis had them, or, where later events go on with
    /// one, as it was for them to go on with.
    pub records: BTreeMap<String, String>,
    /// Issues that it voided, by sequence: request and user.
    pub voided: BTreeMap<u64, (String, Id)>,
    /// The definition that it put, JSON by version.
    pub definitions: Vec<(u64, String)>,
}

/// What is carried on from a room's event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedRoom {
    /// The books after it.
    pub books: super::rooms::books::Books,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_the_stream_is_found_in_the_one_that_stands_for_it() {
        let fields = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            pairs.iter().map(own).collect()
        };
        let raw = fields(&[("n", "3"), ("reason", "\"type\":\"skipped\""), ("type", "rubbish")]);
        let body = chain::body(&raw);
        assert!(is_last(&raw, &body));
        let skipped = fields(&[("n", "3"), ("raw", &body), ("type", TYPE)]);
        assert!(is_last(&raw, &chain::body(&skipped)));
        assert!(!is_last(&skipped, &chain::body(&skipped)));
        let missing = fields(&[("n", "3"), ("raw", ""), ("type", TYPE)]);
        assert_eq!(of_stream(&chain::body(&missing)), None);
    }
}
