//! Wrappers of the scripts that read: `lua/coupon/view.lua`, `lookup.lua` and `dead.lua`.

use std::collections::BTreeMap;

use jackpot_core::unreadable::Unreadable;

use crate::record::Record;
use jackpot_api::coupon::Status;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::subject::Marked;

use super::answers::{self, Answer, Kept};
use super::{DEAD, LOOKUP, Mark, Reply, ScriptError, VIEW, call, run};

reply! {
    /// `ok`: a coupon as it is. Each field of the state and each count follows.
    pub(super) struct Viewed {
        /// Redis' clock.
        now_ms: i64,
        /// The definition, JSON.
        definition: String,
    }
}

reply! {
    /// A field of the state, or how many records there are.
    pub(super) struct Told {
        /// Its name in `lua/coupon/state.lua`.
        name: String,
        /// Its text.
        value: String,
    }
}

reply! {
    /// `ok`: dead letters, by arrival number. Each follows.
    pub(super) struct Letters {
        /// The last arrival number looked at; empty at the end.
        last: Option<u64>,
    }
}

reply! {
    /// A dead letter.
    pub(super) struct Letter {
        /// Id of the request.
        request_id: String,
        /// Its record; empty for a lost one.
        record: Kept,
    }
}

/// A coupon at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    pub status: Status,
    pub version: u64,
    /// As JSON.
    pub definition: String,
    /// Most units outstanding at once.
    pub stock: u64,
    /// Issues so far.
    pub issued: u64,
    /// How many of them were voided.
    pub voided: u64,
    /// Requests that have joined the queue so far.
    pub arrivals: u64,
    /// Requests in the queue.
    pub queued: u64,
    pub dead: u64,
    /// Requests with a record.
    pub requests: u64,
    /// The state and the sizes of the other keys, by their names in `lua/coupon/state.lua`.
    pub held: BTreeMap<String, String>,
}

impl Marked for Snapshot {
    fn mark(&self) -> Mark {
        self.mark
    }
}

impl Snapshot {
    /// Units that can still be issued.
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
    let mut values = reply.values();
    let read = values.take().zip(values.rest::<Told>());
    let (Viewed { now_ms, definition }, held) = read.ok_or_else(|| reply.unexpected())?;
    let held: BTreeMap<_, _> = held.into_iter().map(|told| (told.name, told.value)).collect();
    let field = |name: &str| held.get(name).map(String::as_str).ok_or_else(|| reply.unexpected());
    let number = |name: &str| field(name)?.parse::<u64>().map_err(|_| reply.unexpected());
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms,
        definition,
        status: Status::parse(field("status")?).ok_or_else(|| reply.unexpected())?,
        version: number("version")?,
        stock: number("stock")?,
        issued: number("seq")?,
        voided: number("voided")?,
        arrivals: number("arrivals")?,
        queued: number("queued")?,
        dead: number("dead")?,
        requests: number("requests")?,
        held,
    })
}

/// The result of a look-up.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are found")]
pub enum Looked {
    /// Its record.
    Found(Answer),
    /// No record.
    Missing,
    /// The coupon was retired: ask the ledger for its issues.
    Retired,
}

/// Looks a request up. Returns the coupon's mark with it.
pub async fn lookup(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    request_id: &str,
) -> Result<(Mark, Looked), ScriptError> {
    let reply = run(store, &LOOKUP, call(&LOOKUP, keys, known).arg(request_id), known).await?;
    let answer = match reply.code() {
        "missing" => Looked::Missing,
        "ended" => Looked::Retired,
        "ok" => Looked::Found(answers::read_one(&reply)?),
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), answer))
}

/// Most dead letters of one page.
pub const MAX_DEAD: usize = 1_000;

/// A dead letter.
#[derive(Debug)]
pub struct DeadLetter {
    pub request_id: String,
    /// Its record. An unreadable record does not hide the others.
    pub record: Result<Record, Unreadable>,
}

/// Dead letters, by arrival number.
#[derive(Debug)]
pub struct DeadPage {
    pub mark: Mark,
    /// The last arrival number looked at, `None` at the end.
    pub last: Option<u64>,
    pub letters: Vec<DeadLetter>,
}

impl Marked for DeadPage {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Lists at most `limit` dead letters, 1 to [`MAX_DEAD`], after arrival number `after`.
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
    read_page(&reply).ok_or_else(|| reply.unexpected())
}

fn read_page(reply: &Reply) -> Option<DeadPage> {
    let mut values = reply.values();
    let Letters { last } = values.take()?;
    let letter = |Letter { request_id, record }| DeadLetter {
        request_id,
        record: record.0.unwrap_or_else(|| Err(Unreadable::of(""))),
    };
    let letters = values.rest()?.into_iter().map(letter).collect();
    (reply.code() == "ok").then_some(DeadPage {
        mark: reply.mark(),
        last,
        letters,
    })
}
