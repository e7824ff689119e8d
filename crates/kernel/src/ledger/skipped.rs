//! An event that could not be applied and that an operator skipped, as the ledger keeps it. It is in its place in the
//! chain, under its own number. It holds the original event, why it was skipped, and what is carried on from it.
//!
//! The record has such an event in place of the one in Redis' stream. So the hash of the chain covers all of it. Readers
//! that replay the events (projector, restore, `jackpot verify`) need nothing else.

use std::collections::BTreeMap;

use jackpot_core::chain;
use jackpot_core::fields::EventFields;
use jackpot_core::wire::FieldShape;
use serde::de::DeserializeOwned;

use super::events::{Fields, Unreadable, Why};
use jackpot_core::wire::declared::EventPart;

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

impl<C: DeserializeOwned> EventPart for Skipped<C> {
    fn shapes(_: &'static str, _: &'static str) -> Vec<FieldShape> {
        let raw = "The event in the stream; empty when the stream had none with this number.";
        let carried = "The books after it, idempotency records, entries, payouts, definitions, epochs, adjustments.";
        let mut all = vec![
            FieldShape::text("raw", raw, "canonical JSON"),
            FieldShape::text("why", "Why it could not be applied.", "text"),
            FieldShape::text("carried", carried, "JSON"),
            FieldShape {
                unit: "ms",
                ..FieldShape::new::<i64>("skipped_at", "When it was skipped, by the database's clock.")
            },
        ];
        all.extend(Why::shapes("", ""));
        all
    }

    fn read(fields: &Fields<'_>, _: &'static str) -> Result<Self, Unreadable> {
        Ok(Self {
            raw: fields.text("raw")?.to_owned(),
            why: fields.text("why")?.to_owned(),
            reason: fields.text("reason")?.to_owned(),
            carried: fields.read("carried", |json| serde_json::from_str(json).ok())?,
        })
    }
}

/// The event in the stream that an event of the record stands for: itself, or the original inside a skipped one.
/// `None` when the stream had none with this number.
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

/// Whether an event of the stream is the ledger's last one.
pub fn is_last(fields: &EventFields, last_body: &str) -> bool {
    of_stream(last_body).is_some_and(|body| body == chain::body(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_the_stream_is_found_in_the_one_that_stands_for_it() {
        let fields = |pairs: &[(&str, &str)]| -> EventFields { pairs.iter().copied().collect() };
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
