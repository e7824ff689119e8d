//! Checks receipts against their claims, and the signatures of receipts and heads.

use std::collections::VecDeque;

use jackpot_core::chain::ChainHash;
use jackpot_core::clock::rfc3339;
use jackpot_core::currency::Currency;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::receipt::{Head, Receipt};
use jackpot_core::signing::{Jwks, signed_text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::jackpot::ledger::event::{Claim, ClaimResult, Event};

use super::report::{Place, Report};

/// What the receipt of a paid claim must say, without key and signature.
pub(super) struct Paid {
    n: u64,
    history: String,
    claim_order: u64,
    members: Vec<(&'static str, Value)>,
    /// Its `event_id` as an earlier version made it.
    earlier_event_id: Value,
}

impl Paid {
    /// The expected receipt of a claim; `None` if the claim was not paid.
    pub(super) fn of(
        jackpot: &Id,
        event: &Event,
        entry_id: &str,
        player: &PersonId,
        claim: &Claim,
        currency: Option<Currency>,
    ) -> Option<Self> {
        let ClaimResult::Paid {
            tier,
            amount,
            claim_order,
            pool_before,
        } = &claim.result
        else {
            return None;
        };
        let history = &event.history;
        let members = vec![
            (
                "payout_id",
                json!(payout_id(jackpot, history, entry_id, claim.sequence)),
            ),
            ("jackpot_id", json!(jackpot)),
            ("entry_id", json!(entry_id)),
            ("player_id", json!(player)),
            ("tier", json!(tier)),
            ("amount", json!(amount)),
            ("currency", json!(currency)),
            ("claim_order", json!(claim_order)),
            ("pool_before", json!(pool_before)),
            ("pool_after", json!(pool_before.saturating_sub(*amount))),
            ("paid_at", json!(rfc3339(event.at_ms))),
            ("history", json!(history)),
        ];
        Some(Self {
            n: event.n,
            history: history.clone(),
            claim_order: *claim_order,
            members,
            earlier_event_id: Value::Null,
        })
    }
}

/// The keys, and the receipts that the last event still requires.
pub(super) struct Receipts {
    jackpot: Id,
    keys: Jwks,
    due: VecDeque<Paid>,
}

impl Receipts {
    pub(super) fn new(jackpot: Id, keys: Jwks) -> Self {
        Self {
            jackpot,
            keys,
            due: VecDeque::new(),
        }
    }

    /// Expects receipts for what an event paid, in the order of the claims. `first`: the number of the first one among all
    /// that the event tells other systems. An earlier version numbered only the payouts, from 0.
    pub(super) fn expect(&mut self, paid: Vec<Paid>, first: u64) {
        for (place, mut paid) in (0..).zip(paid) {
            let event_id = |i: u64| json!(format!("jackpot:{}:{}:{}:{i}", self.jackpot, paid.history, paid.n));
            paid.earlier_event_id = event_id(place);
            let event_id = event_id(first + place);
            paid.members.push(("event_id", event_id));
            self.due.push_back(paid);
        }
    }

    /// Checks a receipt, which must be the next expected one. `known`: whether the claims are known.
    pub(super) fn receipt(&mut self, receipt: &Receipt, known: bool, report: &mut Report) {
        let place = || Place::Receipt(receipt.payout_id.clone());
        self.signature(
            &place(),
            &receipt.key_id,
            &signed_text(receipt),
            &receipt.signature,
            report,
        );
        if !known {
            return;
        }
        let stated = serde_json::to_value(receipt).unwrap_or_default();
        let order = stated["claim_order"].as_u64();
        let Some(at) = self.due.iter().position(|paid| Some(paid.claim_order) == order) else {
            report.wrong(place(), "the event before it paid no such claim");
            return;
        };
        for paid in self.due.drain(..at) {
            missing(&paid, report);
        }
        let Some(paid) = self.due.pop_front() else { return };
        for (member, value) in &paid.members {
            let is_earlier = *member == "event_id" && stated[member] == paid.earlier_event_id;
            if stated[member] != *value && !is_earlier {
                let what = format!("its {member} is {}, by event {} it is {value}", stated[member], paid.n);
                report.wrong(place(), what);
            }
        }
        report.counts.receipts += 1;
    }

    /// Reports paid claims of the last event that have no receipt.
    pub(super) fn end_of_event(&mut self, report: &mut Report) {
        for paid in self.due.drain(..) {
            missing(&paid, report);
        }
    }

    /// Checks a head: it must name this jackpot, and its signature must be valid.
    pub(super) fn head(&self, head: &Head, place: &Place, report: &mut Report) -> bool {
        if head.jackpot_id.as_str() != self.jackpot.as_str() {
            report.wrong(place.clone(), format!("it is one of jackpot {}", head.jackpot_id));
            return false;
        }
        self.signature(place, &head.key_id, &signed_text(head), &head.signature, report)
    }

    /// The place in the chain that a kept head states, if it is a valid head.
    pub(super) fn kept_head(&self, head: &Head, report: &mut Report) -> Option<(u64, ChainHash)> {
        let hash = ChainHash::parse(&head.hash);
        if hash.is_none() {
            report.wrong(Place::KeptHead, "its hash can't be read");
        }
        self.head(head, &Place::KeptHead, report).then_some((head.n, hash?))
    }

    fn signature(&self, place: &Place, key_id: &str, text: &str, signature: &str, report: &mut Report) -> bool {
        match self.keys.verify(key_id, text, signature) {
            Ok(()) => report.counts.signatures += 1,
            Err(error) => {
                report.wrong(place.clone(), error.to_string());
                return false;
            }
        }
        true
    }
}

fn missing(paid: &Paid, report: &mut Report) {
    let what = format!("its paid claim {} has no receipt", paid.claim_order);
    report.wrong(Place::Event(paid.n), what);
}

/// The id of an entry's payout, by its published rule. An entry is paid at most once.
fn payout_id(jackpot: &Id, history: &str, entry_id: &str, sequence: u64) -> String {
    hex::encode(&Sha256::digest(format!("payout\n{jackpot}\n{history}\n{entry_id}\n{sequence}"))[..16])
}
