//! `lua/room/collected.lua`, `reorder.lua` and `publish.lua`: the tickets from before the opening.

use crate::ticket::Ticket;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::RoomKeys;
use jackpot_kernel::subject::Marked;

use super::{COLLECTED, Mark, PUBLISH, REORDER, Reply, ScriptError, call, run};

pub const MAX_COLLECTED: usize = 10_000;

reply! {
    /// `ok`: a page of the tickets from before the opening. Each follows, in join order.
    pub(super) struct Page {
        /// Redis' clock.
        now_ms: i64,
        /// When the room opens. Until then there may be more. Empty once it has opened.
        opens_ms: Option<i64>,
    }
}

reply! {
    /// A ticket from before the opening.
    pub(super) struct Collected {
        /// Its number on the list.
        number: u64,
        /// The ticket.
        ticket: Ticket,
    }
}

reply! {
    /// `ok`: progress of the new order. If others have ordered some, the caller goes on from there.
    pub(super) struct Ordered {
        /// Number of the last ticket with its order.
        ordered: u64,
        /// Number of the last ticket that needs one.
        to_order: u64,
    }
}

/// Tickets from before the opening, in join order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedPage {
    pub mark: Mark,
    /// Redis' clock, ms.
    pub now_ms: i64,
    /// When the room opens. Until then there may be more. `None` once it has opened.
    pub opens_ms: Option<i64>,
    /// Number on the list, and ticket.
    pub items: Vec<(u64, Ticket)>,
}

impl Marked for CollectedPage {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Lists at most `limit`, 1 to [`MAX_COLLECTED`], after the number `after`; writes nothing.
/// Panics when `limit` is out of its range.
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
    let mut values = reply.values();
    let Page { now_ms, opens_ms } = values.take()?;
    let item = |Collected { number, ticket }| (number, ticket);
    let items = values.rest()?.into_iter().map(item).collect();
    (reply.code() == "ok").then_some(CollectedPage {
        mark: reply.mark(),
        now_ms,
        opens_ms,
        items,
    })
}

/// Most tickets of one call of [`reorder`], within the stack of `unpack`.
pub const MAX_REORDERED: usize = 1_000;

/// Progress of the new order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reordered {
    /// Under this nonce.
    UpTo {
        /// Number of the last ticket with its order.
        ordered: u64,
        /// Number of the last ticket that needs one.
        to_order: u64,
    },
    /// The room has another nonce by now.
    OtherNonce,
}

/// Gives tickets their order under this nonce: those after the number `after`, in the order of the list, at most
/// [`MAX_REORDERED`]. If others have come further, it changes nothing. Returns the room's mark with the result.
/// Panics when there are too many.
pub async fn reorder(
    store: &Store,
    keys: &RoomKeys,
    known: Mark,
    nonce: &str,
    after: u64,
    orders: &[(Ticket, i64)],
) -> Result<(Mark, Reordered), ScriptError> {
    assert!(orders.len() <= MAX_REORDERED, "at most {MAX_REORDERED} a call");
    let call = call(&REORDER, keys, known).arg(nonce).arg(after);
    let call = orders
        .iter()
        .fold(call, |call, (ticket, order)| call.arg(ticket.to_string()).arg(*order));
    let reply = run(store, &REORDER, call, known).await?;
    let reordered = match reply.code() {
        "ok" => {
            let Ordered { ordered, to_order } = reply.read()?.values;
            Reordered::UpTo { ordered, to_order }
        }
        "nonce" => Reordered::OtherNonce,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), reordered))
}

/// Publishes the list as an event: how many tickets, and their SHA-256 in join order, with a line feed after each.
/// Returns whether it is published, by this call or an earlier one. It refuses before the opening, and if Redis has
/// another number of tickets. Returns the room's mark too.
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
