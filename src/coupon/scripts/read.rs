//! `lua/coupon/view.lua`, `lookup.lua` and `dead.lua`: what reads.

use crate::coupon::record::Record;
use crate::coupon::status::Status;
use crate::store::Store;
use crate::store::keys::CouponKeys;
use crate::stream::Marked;
use crate::stream::Unreadable;

use super::answers::{self, Answer};
use super::{DEAD, LOOKUP, Mark, Reply, ScriptError, VIEW, call, run};

/// A coupon at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The coupon's mark.
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    /// Its status.
    pub status: Status,
    /// Version of its definition.
    pub version: u64,
    /// The definition, JSON.
    pub definition: String,
    /// Units that may be out at once.
    pub stock: u64,
    /// Issues ever.
    pub issued: u64,
    /// Of them taken back.
    pub voided: u64,
    /// Requests that ever joined the line.
    pub arrivals: u64,
    /// Requests in the line.
    pub queued: u64,
    /// Dead letters.
    pub dead: u64,
    /// Requests that it remembers.
    pub requests: u64,
}

impl Marked for Snapshot {
    fn mark(&self) -> Mark {
        self.mark
    }
}

impl Snapshot {
    /// Units that can be issued.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        (self.stock + self.voided).saturating_sub(self.issued)
    }
}

/// Reads a coupon. `known`: the highest mark this instance has seen.
pub async fn snapshot(store: &Store, keys: &CouponKeys, known: Mark) -> Result<Snapshot, ScriptError> {
    let reply = run(store, &VIEW, call(&VIEW, keys, known), known).await?;
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: reply.number(0)?,
        status: Status::parse(&reply.text(1)?).ok_or_else(|| reply.unexpected())?,
        version: reply.number(2)?,
        definition: reply.text(3)?,
        stock: reply.number(4)?,
        issued: reply.number(5)?,
        voided: reply.number(6)?,
        arrivals: reply.number(7)?,
        queued: reply.number(8)?,
        dead: reply.number(9)?,
        requests: reply.number(10)?,
    })
}

/// Looks a request up; `None` when nothing is known of it, which behind the end of a coupon means little. With the
/// coupon's mark.
pub async fn lookup(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    request_id: &str,
) -> Result<(Mark, Option<Answer>), ScriptError> {
    let reply = run(store, &LOOKUP, call(&LOOKUP, keys, known).arg(request_id), known).await?;
    let answer = match reply.code() {
        "missing" | "ended" => None,
        "ok" => Some(answers::parse_one(&reply)?),
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), answer))
}

/// Most dead letters of one page.
pub const MAX_DEAD: usize = 1_000;

/// A dead letter.
#[derive(Debug)]
pub struct DeadLetter {
    /// Its request id.
    pub request_id: String,
    /// Its record; one that cannot be read holds up none of the others.
    pub record: Result<Record, Unreadable>,
}

/// Dead letters, by arrival number.
#[derive(Debug)]
pub struct DeadPage {
    /// The coupon's mark.
    pub mark: Mark,
    /// The last arrival number looked at, `None` at the end.
    pub last: Option<u64>,
    /// The letters.
    pub letters: Vec<DeadLetter>,
}

impl Marked for DeadPage {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Lists at most `limit` dead letters, 1 to [`MAX_DEAD`], of those behind arrival number `after`.
///
/// # Panics
/// When `limit` is out of its range.
pub async fn dead_letters(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    after: u64,
    limit: usize,
) -> Result<DeadPage, ScriptError> {
    assert!((1..=MAX_DEAD).contains(&limit), "1 to {MAX_DEAD} dead letters a page");
    let call = call(&DEAD, keys, known).arg(after).arg(limit);
    let reply = run(store, &DEAD, call, known).await?;
    parse_page(&reply).ok_or_else(|| reply.unexpected())
}

fn parse_page(reply: &Reply) -> Option<DeadPage> {
    let mut texts = reply.strs();
    let last = texts.next()??.parse().ok();
    let mut letters = Vec::new();
    while let Some(request_id) = texts.next() {
        letters.push(DeadLetter {
            request_id: request_id?.to_owned(),
            record: Record::parse(texts.next()??),
        });
    }
    (reply.code() == "ok").then_some(DeadPage {
        mark: reply.mark(),
        last,
        letters,
    })
}
