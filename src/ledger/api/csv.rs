//! Rows as CSV.
//!
//! A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula. What operators wrote freely gets a `'`
//! in front of those; all other cells are numbers, times, ids and signatures, which stay as they are, so that what is
//! signed can be checked. NDJSON and JSON never change a text.

use crate::ledger::queries::audit::AuditRow;
use crate::ledger::queries::entries::EntryRow;
use crate::ledger::queries::issues::IssueRow;
use crate::ledger::queries::payouts::PayoutRow;
use crate::ledger::queries::postings::PostingRow;

/// A row of a table.
pub(super) trait Record {
    /// Names of the columns.
    const HEADER: &'static [&'static str];

    /// One text for each column; empty for null.
    fn cells(&self) -> Vec<String>;
}

/// Lines of CSV; memory takes all that is written.
pub(super) fn lines<R: AsRef<[u8]>>(records: impl IntoIterator<Item = impl IntoIterator<Item = R>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer
            .write_record(record)
            .expect("records of one table have the same columns");
    }
    writer.into_inner().expect("memory takes all that is written")
}

/// Free text that no spreadsheet takes for a formula.
fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

impl Record for PayoutRow {
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
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.payout_id.clone(),
            self.jackpot_id.clone(),
            self.entry_id.clone(),
            self.player_id.clone(),
            self.tier.clone(),
            self.amount.to_string(),
            self.currency.clone(),
            self.claim_order.to_string(),
            self.pool_before.to_string(),
            self.pool_after.to_string(),
            self.paid_at.clone(),
            self.history.clone(),
            self.event_id.clone(),
            self.key_id.clone(),
            self.signature.clone(),
        ]
    }
}

impl Record for EntryRow {
    const HEADER: &'static [&'static str] = &[
        "entry_id",
        "jackpot_id",
        "player_id",
        "sequence",
        "stake",
        "client_seed",
        "entered_at",
        "event_id",
        "epoch",
        "definition_version",
        "settled",
        "rank",
        "prize",
        "tier",
        "amount",
        "payout_id",
        "claim_order",
    ];

    fn cells(&self) -> Vec<String> {
        let outcome = self.outcome.as_ref();
        vec![
            self.entry_id.clone(),
            self.jackpot_id.clone(),
            self.player_id.clone(),
            self.sequence.to_string(),
            self.stake.to_string(),
            or_empty(self.client_seed.as_ref()),
            self.entered_at.clone(),
            self.event_id.clone(),
            self.epoch.to_string(),
            self.definition_version.to_string(),
            self.settled.to_string(),
            or_empty(outcome.map(|outcome| outcome.rank)),
            or_empty(outcome.map(|outcome| &outcome.prize)),
            or_empty(outcome.and_then(|outcome| outcome.tier.as_ref())),
            or_empty(outcome.and_then(|outcome| outcome.amount)),
            or_empty(outcome.and_then(|outcome| outcome.payout_id.as_ref())),
            or_empty(outcome.and_then(|outcome| outcome.claim_order)),
        ]
    }
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

impl Record for AuditRow {
    const HEADER: &'static [&'static str] = &[
        "who",
        "at",
        "action",
        "target",
        "before",
        "after",
        "reason",
        "request_id",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.who.clone(),
            self.at.clone(),
            self.action.clone(),
            self.target.clone(),
            self.before.to_string(),
            self.after.to_string(),
            harmless(&self.reason),
            harmless(&self.request_id),
        ]
    }
}

impl Record for IssueRow {
    const HEADER: &'static [&'static str] = &["sequence", "request_id", "user_id", "code", "issued_at", "voided_at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.sequence.to_string(),
            self.request_id.clone(),
            self.user_id.clone(),
            or_empty(self.code.as_ref()),
            self.issued_at.clone(),
            or_empty(self.voided_at.as_ref()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = lines([["a", "b"], ["1,5", "say \"x\"\nnow"]]);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "a,b\n\"1,5\",\"say \"\"x\"\"\nnow\"\n"
        );
    }

    #[test]
    fn free_text_is_no_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        assert_eq!(harmless("launch = now"), "launch = now");
    }
}
