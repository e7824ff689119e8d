//! `lua/coupon/issue.lua`.

use jackpot_core::wire::Field;

use crate::code::Code;
use crate::metadata::Asker;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::store::{Call, Script, Store};
use jackpot_kernel::subject::{List, Marked};

use super::answers::{self, Answer};
use super::{ISSUE, ISSUE_OWED, Mark, Reply, ScriptError, call, run, run_here};

/// Most requests of one call. It bounds the work to a millisecond or two, and stays within the stack of `unpack`.
pub const MAX_REQUESTS: usize = 1_000;

/// Usual bytes of a request in a call: two ids and a code.
const USUAL_BYTES: usize = 96;

/// A request for a unit.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Its id: a client's, or derived (`draw:{jackpot}:{entry}`).
    pub request_id: String,
    /// The user, and the metadata of the request.
    pub user: Asker,
    /// Code of the unit, used if the script issues one.
    pub code: Code,
    pub mode: Mode,
}

/// When a request is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Now, unless others are in the queue: then after them.
    Now,
    /// By the queue's consumer.
    Line,
}

/// The reply of one call.
#[derive(Debug)]
pub struct Asked {
    pub mark: Mark,
    /// Why the requests with [`AskReply::NotTaken`] were not taken.
    pub refusal: Option<Refusal>,
    /// One for each request, in order.
    pub answers: Vec<AskReply>,
}

impl Marked for Asked {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// The reply to one request.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are answered")]
pub enum AskReply {
    /// It has a record. Compare the record's user with the caller's: the id may be another user's.
    Answered(Answer),
    /// The script wrote nothing for it.
    NotTaken,
}

/// Why a coupon takes no requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// An operator paused it.
    Paused,
    /// An operator closed it.
    Closed,
    /// Suspended: its books do not agree.
    Suspended,
    /// Retired: its records may be gone.
    Ended,
    /// The emergency stop holds it.
    Emergency,
}

impl Refusal {
    /// Parses the code of a reply.
    pub(super) fn of(code: &str) -> Option<Self> {
        match code {
            "paused" => Some(Self::Paused),
            "closed" => Some(Self::Closed),
            "suspended" => Some(Self::Suspended),
            "ended" => Some(Self::Ended),
            "stopped" => Some(Self::Emergency),
            _ => None,
        }
    }
}

/// Decides requests, in order. At most [`MAX_REQUESTS`]. `known`: the highest mark this instance has seen.
///
/// # Panics
/// When there are none or too many.
pub async fn issue(store: &Store, keys: &CouponKeys, known: Mark, requests: &[Ask]) -> Result<Asked, ScriptError> {
    let call = asking(&ISSUE, false, keys, known, requests);
    asked(&run(store, &ISSUE, call, known).await?, requests.len())
}

/// Like `issue`, over the calling thread's own connection.
///
/// # Panics
/// When there are none or too many.
pub async fn issue_here(store: &Store, keys: &CouponKeys, known: Mark, requests: &[Ask]) -> Result<Asked, ScriptError> {
    let call = asking(&ISSUE, false, keys, known, requests);
    asked(&run_here(store, &ISSUE, call, known).await?, requests.len())
}

/// Like `issue`, also when memory is full or the emergency stop holds the coupon: for prizes of draws, which finish
/// pending entries.
///
/// # Panics
/// When there are none or too many.
pub async fn issue_owed(store: &Store, keys: &CouponKeys, known: Mark, requests: &[Ask]) -> Result<Asked, ScriptError> {
    let call = asking(&ISSUE_OWED, true, keys, known, requests);
    asked(&run_here(store, &ISSUE_OWED, call, known).await?, requests.len())
}

fn asking(script: &'static Script, is_owed: bool, keys: &CouponKeys, known: Mark, requests: &[Ask]) -> Call<'static> {
    assert!(
        (1..=MAX_REQUESTS).contains(&requests.len()),
        "1 to {MAX_REQUESTS} requests a call"
    );
    let modes = if is_owed {
        "d".repeat(requests.len())
    } else if requests.iter().all(|ask| ask.mode == Mode::Now) {
        String::new()
    } else {
        let letter = |mode| if mode == Mode::Now { 'n' } else { 'l' };
        requests.iter().map(|ask| letter(ask.mode)).collect()
    };
    let mut list = List::with_capacity(requests.len() * USUAL_BYTES);
    list.count(requests.len()).text(&modes);
    for ask in requests {
        list.text(&ask.request_id);
    }
    for ask in requests {
        list.text(&ask.user.text());
    }
    for ask in requests {
        list.text(&ask.code.to_string());
    }
    call(script, keys, known).arg(list)
}

fn asked(reply: &Reply, count: usize) -> Result<Asked, ScriptError> {
    let refusal = Refusal::of(reply.code());
    if reply.code() != "ok" && refusal.is_none() {
        return Err(reply.unexpected());
    }
    let answers = answers::read(&mut reply.values(), count).ok_or_else(|| reply.unexpected())?;
    let answers = answers
        .into_iter()
        .map(|answer| answer.map_or(AskReply::NotTaken, AskReply::Answered));
    Ok(Asked {
        mark: reply.mark(),
        refusal,
        answers: answers.collect(),
    })
}
