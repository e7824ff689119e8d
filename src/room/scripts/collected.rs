//! `lua/room/collected.lua` and `publish.lua`: who joined before the opening.

use crate::room::ticket::Ticket;
use crate::store::Store;
use crate::store::keys::RoomKeys;
use crate::stream::Marked;

use super::{COLLECTED, Mark, PUBLISH, Reply, ScriptError, call, run};

/// Most of one page.
pub const MAX_COLLECTED: usize = 10_000;

/// Tickets that were made before the opening, in the order in which they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedPage {
    /// The room's mark.
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    /// When the room opens: until then there may be more; `None` once it has.
    pub opens_ms: Option<i64>,
    /// Number on the list and ticket.
    pub items: Vec<(u64, Ticket)>,
}

impl Marked for CollectedPage {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Lists at most `limit`, 1 to [`MAX_COLLECTED`], of those behind the number `after`; writes nothing.
///
/// # Panics
/// When `limit` is out of its range.
pub async fn collected(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    after: u64,
    limit: usize,
) -> Result<CollectedPage, ScriptError> {
    assert!((1..=MAX_COLLECTED).contains(&limit), "1 to {MAX_COLLECTED} a page");
    let call = call(&COLLECTED, keys, known).arg(after).arg(limit);
    let reply = run(store, &COLLECTED, call, known).await?;
    parse(&reply).ok_or_else(|| reply.unexpected())
}

fn parse(reply: &Reply) -> Option<CollectedPage> {
    let texts = reply.strs().collect::<Option<Vec<_>>>()?;
    let (&[now, opens], rest) = texts.split_first_chunk()?;
    let item = |item: &[&str]| {
        let &[number, ticket] = item else {
            return None;
        };
        Some((number.parse().ok()?, Ticket::parse(ticket).ok()?))
    };
    (reply.code() == "ok").then_some(CollectedPage {
        mark: reply.mark(),
        now_ms: now.parse().ok()?,
        opens_ms: (!opens.is_empty()).then(|| opens.parse()).transpose().ok()?,
        items: rest.chunks(2).map(item).collect::<Option<_>>()?,
    })
}

/// Puts the list into the events: how many tickets there are, and the SHA-256 of them in join order, a line feed behind
/// each. Whether it is published now, by this call or by one before; it is not before the opening, nor where other
/// tickets than these are there. With the room's mark.
pub async fn publish(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    joined: u64,
    sha256: &str,
) -> Result<(Mark, bool), ScriptError> {
    let call = call(&PUBLISH, keys, known).arg(joined).arg(sha256);
    let reply = run(store, &PUBLISH, call, known).await?;
    match reply.code() {
        "ok" | "same" => Ok((reply.mark(), true)),
        "early" | "changed" => Ok((reply.mark(), false)),
        _ => Err(reply.unexpected()),
    }
}
