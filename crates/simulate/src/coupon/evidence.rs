//! Everything a run of coupons has seen, for the checks to judge.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

pub use super::answer::Kind;
use super::answer::{Outcome, Unit};
use super::plan::{Ask, Plan};

/// One call with what came of it. Times are microseconds of the run.
#[derive(Debug, Clone)]
pub struct Call {
    pub ask: Ask,
    /// Its first try.
    pub sent_us: u64,
    /// Its answer: decided or queued.
    pub answered_us: u64,
    /// The first answer with the decision. For a queued request it is later than the first answer.
    pub decided_us: u64,
    /// How long its request was in the queue, by the service's clock, in ms; if both ends are known.
    pub queued_ms: Option<u64>,
    /// HTTP status of its answer.
    pub status: u16,
    /// Its answer said `Idempotency-Replayed: true`.
    pub replayed: bool,
    /// Tries without an answer before.
    pub repeats: u32,
    /// The error says what is wrong with the answer itself.
    pub outcome: Result<Outcome, String>,
}

/// A unit that was taken back.
#[derive(Debug, Clone)]
pub struct Void {
    pub ask: Ask,
    pub sent_us: u64,
    pub answered_us: u64,
    pub outcome: Result<Outcome, String>,
}

/// What `GET /v1/coupons/{id}` shows after the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counts {
    pub stock: u64,
    pub issued: u64,
    pub voided: u64,
    pub remaining: u64,
    pub queued: u64,
    pub dead: u64,
}

/// An issue as the ledger lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    pub request_id: String,
    pub user_id: String,
    #[serde(flatten)]
    pub unit: Unit,
    #[serde(rename = "voided_at", default, deserialize_with = "is_there")]
    pub voided: bool,
}

/// Whether a field has a value.
fn is_there<'de, D: Deserializer<'de>>(field: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(field)?.is_some())
}

/// What the reconciliation says of the coupon at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Redis and the ledger agree, at this event.
    Clean { event: u64 },
    /// They do not agree, in the words of the service.
    Mismatch(String),
    /// It could not be seen; the reason.
    Unknown(String),
}

/// Everything a run has seen.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub plan: Plan,
    pub calls: Vec<Call>,
    pub voids: Vec<Void>,
    /// Calls that looked at a request in the queue.
    pub looks: u64,
    pub counts: Counts,
    /// Request ids of the dead letters.
    pub dead_letters: Vec<String>,
    /// Issues in the ledger's order, or why they could not be read.
    pub ledger: Result<Vec<Row>, String>,
    pub compared: Compared,
    /// Times the service was killed during the run.
    pub kills: u32,
}

/// All calls of a request.
#[derive(Debug, Clone)]
pub struct Request<'e> {
    pub ask: Ask,
    pub calls: Vec<&'e Call>,
    /// Nothing was done for it before.
    pub sent_us: u64,
    /// It was decided or queued by then.
    pub answered_us: u64,
    /// It was decided by then.
    pub decided_us: u64,
}

impl<'e> Request<'e> {
    /// Its outcome: the first readable answer.
    pub fn outcome(&self) -> Option<&'e Outcome> {
        self.calls.iter().find_map(|call| call.outcome.as_ref().ok())
    }
}

impl Request<'_> {
    /// The kind of its outcome.
    pub fn kind(&self) -> Option<Kind> {
        self.outcome().map(Outcome::kind)
    }
}

/// A unit with the request that got it.
#[derive(Debug, Clone)]
pub struct Issue<'e> {
    pub request: Request<'e>,
    pub unit: &'e Unit,
    pub void: Option<&'e Void>,
}

impl Evidence {
    /// All requests, by user and number.
    pub fn requests(&self) -> Vec<Request<'_>> {
        let mut by_ask = BTreeMap::<Ask, Vec<&Call>>::new();
        for call in &self.calls {
            by_ask.entry(call.ask).or_default().push(call);
        }
        let first = |calls: &[&Call], at: fn(&Call) -> u64| calls.iter().map(|call| at(call)).min().unwrap_or(0);
        let mut requests = Vec::with_capacity(by_ask.len());
        for (ask, calls) in by_ask {
            requests.push(Request {
                ask,
                sent_us: first(&calls, |call| call.sent_us),
                answered_us: first(&calls, |call| call.answered_us),
                decided_us: first(&calls, |call| call.decided_us),
                calls,
            });
        }
        requests
    }

    /// All issues in the answers, by sequence.
    pub fn issues(&self) -> Vec<Issue<'_>> {
        let voids: BTreeMap<Ask, &Void> = self.voids.iter().map(|void| (void.ask, void)).collect();
        let mut issues: Vec<Issue<'_>> = Vec::new();
        for request in self.requests() {
            let found = request.outcome().and_then(Outcome::unit);
            if let Some(unit) = found {
                let void = voids.get(&request.ask).copied();
                issues.push(Issue { request, unit, void });
            }
        }
        issues.sort_by_key(|issue| issue.unit.sequence);
        issues
    }
}
