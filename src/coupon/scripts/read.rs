//! `lua/coupon/view.lua`, `lookup.lua` and `dead.lua`: what reads.

use std::collections::BTreeMap;

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
    /// The state and the numbers of records, by their names in `lua/coupon/state.lua`.
    pub held: BTreeMap<String, String>,
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
    let texts = reply.texts().into_iter().skip(2).collect::<Option<Vec<_>>>();
    let texts = texts.ok_or_else(|| reply.unexpected())?;
    let pairs = texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
    let held: BTreeMap<_, _> = pairs.collect();
    let field = |name: &str| held.get(name).map(String::as_str).ok_or_else(|| reply.unexpected());
    let number = |name: &str| field(name)?.parse::<u64>().map_err(|_| reply.unexpected());
    Ok(Snapshot {
        mark: reply.mark(),
        now_ms: reply.number(0)?,
        definition: reply.text(1)?,
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

/// What is known of a request.
#[derive(Debug)]
pub enum Looked {
    /// Its record.
    Found(Answer),
    /// Nothing.
    Missing,
    /// The coupon was retired: the ledger has what was issued.
    Retired,
}

/// Looks a request up; with the coupon's mark.
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
        "ok" => Looked::Found(answers::parse_one(&reply)?),
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
