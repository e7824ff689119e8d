//! `lua/room/visit.lua`.

use std::ops::Deref;

use jackpot_core::ids::PersonId;

use crate::known::{Doubt, Known, OrderOf};
use crate::record::{End, Record};
use crate::ticket::Ticket;
use jackpot_api::room::Status;
use jackpot_kernel::reply;
use jackpot_kernel::store::{Call, Script, Store};
use jackpot_kernel::subject::{Marked, MaybeScript, Values};

use super::{Counts, JOIN, Mark, Reply, ScriptError, VISIT, call, run, run_here};

/// Most visits of one call. It stays within the stack of `unpack`, and bounds the call to 30 ms with the step before
/// the visits (docs/decisions/0016-rooms.md).
pub const MAX_VISITS: usize = 256;

#[derive(Debug, Clone)]
pub enum Visit {
    /// Asks for a place.
    Join {
        user: PersonId,
        /// The ticket to make, random. Unused if the user has one that waits or is in.
        ticket: Ticket,
        /// Its order if the room has not opened yet, negative.
        order: i64,
        /// Nonce of the seed of this order.
        nonce: String,
    },
    /// Looks at a place, and keeps it alive.
    Look(Ticket),
    /// Starts the session again.
    Renew(Ticket),
    /// Leaves.
    Leave(Ticket),
}

/// The place of a ticket. Times are ms of the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Waiting {
        /// How many are ahead.
        ahead: u64,
    },
    /// It is in.
    Admitted {
        /// Time of admission.
        admitted_ms: i64,
        /// End of the session, on a whole second.
        end_ms: i64,
    },
    /// It has ended.
    Ended {
        how: End,
        /// Time of the end.
        at_ms: i64,
    },
}

/// A ticket after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub ticket: Ticket,
    pub user: PersonId,
    /// When it was made; `None` once it has ended.
    pub joined_ms: Option<i64>,
    pub place: Place,
    /// This visit made it, or the same visit sent before.
    pub new: bool,
}

/// The result of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisitReply {
    /// The ticket as it is now.
    Seen(Seen),
    /// There is no such ticket, or its record was dropped.
    Unknown,
    /// A renewal of a ticket that is not in.
    NotAdmitted(Seen),
    /// A join of a user without a place, while the room is suspended.
    Suspended,
    /// A join of a user without a place, while the emergency stop holds the room.
    Emergency,
    /// A join of a user who has left this room too often recently.
    Limited {
        /// Time until the user may join again.
        wait_ms: u64,
    },
    /// A join under another nonce than the room's, which [`Known::order`] has by now.
    OtherNonce,
}

reply! {
    /// `ok`: a room after a step. All times are room times but `wall_ms` and `opens_ms`, which are of Redis' clock.
    pub struct Stepped {
        /// The room's time.
        pub now_ms: i64,
        /// Redis' clock.
        pub wall_ms: i64,
        /// Number of passes given and revoked.
        pub passes: u64,
        /// Number of the last revoked pass, 0 for none.
        pub revocations: u64,
        /// Whether it takes visitors.
        pub status: Status,
        /// The counters.
        pub counts: Counts,
        /// Nobody is admitted before; empty once it has come.
        pub opens_ms: Option<i64>,
        /// Nobody is admitted before, because passes were lost; empty once it has come.
        pub hold_ms: Option<i64>,
        /// How long the place of a silent waiting user is kept.
        pub waiting_timeout_ms: u64,
        /// Length of a session.
        pub session_ms: u64,
        /// Sessions at once.
        pub capacity: u64,
        /// Most admissions in any 60 s; empty for no limit.
        pub rate: Option<u64>,
        /// When the next thing is due: another call is needed then; empty for nothing.
        pub next_due_ms: Option<i64>,
        /// A bound left due work: another call is needed now.
        pub more: bool,
        /// The room has opened, and the list of tickets from before is not published.
        pub unpublished: bool,
        /// The opening was moved, and some tickets do not have their new order: nobody is admitted before.
        pub unordered: bool,
        /// The order before the opening; empty once the room has opened.
        pub order: OrderOf,
    }
}

reply! {
    /// The answer to one visit, after the values of the room.
    pub struct Answer {
        /// What came of it: `s` seen, `n` renewal of a ticket that is not in, `u` no such ticket, `c` suspended: nobody
        /// joins, `l` this user has left too often, `o` the room has another nonce: join again with an order under it.
        code: String,
        /// The ticket.
        ticket: Option<Ticket>,
        /// Its record.
        record: Option<Record>,
        /// How many are ahead of a waiting ticket; for `l` ms after which the user may join again; 0 else.
        ahead: u64,
    }
}

/// A room after a call, and its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visited {
    pub mark: Mark,
    pub room: Stepped,
    /// One for each visit, in order.
    pub replies: Vec<VisitReply>,
}

impl Deref for Visited {
    type Target = Stepped;

    fn deref(&self) -> &Stepped {
        &self.room
    }
}

impl Marked for Visited {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Makes a step, and visits in order: at most [`MAX_VISITS`]. `retention_ms`: how long records of ended tickets are
/// kept. Without joins it runs when memory is full.
/// Panics when there are too many.
pub async fn visit(store: &Store, known: &Known, retention_ms: u64, visits: &[Visit]) -> Result<Visited, ScriptError> {
    let (script, doubt) = (script_for(visits), known.visiting());
    let call = visiting(script, known, retention_ms, &doubt, visits);
    let reply = run(store, script, call, known.mark()).await;
    concluded(reply.and_then(|reply| visited(&reply, known, visits)), doubt)
}

/// Like `visit`, over the calling thread's own connection.
/// Panics when there are too many.
pub async fn visit_here(
    store: &Store,
    known: &Known,
    retention_ms: u64,
    visits: &[Visit],
) -> Result<Visited, ScriptError> {
    let (script, doubt) = (script_for(visits), known.visiting());
    let call = visiting(script, known, retention_ms, &doubt, visits);
    let reply = run_here(store, script, call, known.mark()).await;
    concluded(reply.and_then(|reply| visited(&reply, known, visits)), doubt)
}

/// An unavailable Redis leaves a doubt.
fn concluded(visited: Result<Visited, ScriptError>, doubt: Doubt<'_>) -> Result<Visited, ScriptError> {
    match &visited {
        Ok(_) => doubt.settle(),
        Err(error) if error.is_unavailable() => drop(doubt),
        Err(_) => doubt.leave(),
    }
    visited
}

fn script_for(visits: &[Visit]) -> &'static Script {
    let is_join = |visit: &Visit| matches!(visit, Visit::Join { .. });
    if visits.iter().any(is_join) { &JOIN } else { &VISIT }
}

fn visiting<'s>(script: &'s Script, known: &Known, retention_ms: u64, doubt: &Doubt<'_>, visits: &[Visit]) -> Call<'s> {
    assert!(visits.len() <= MAX_VISITS, "at most {MAX_VISITS} visits a call");
    let letter = |visit: &Visit| match visit {
        Visit::Join { .. } => 'j',
        Visit::Look(_) => 'k',
        Visit::Renew(_) => 'r',
        Visit::Leave(_) => 'l',
    };
    let call = call(script, &known.keys, known.mark())
        .at_once()
        .arg(known.passes())
        .arg(known.shown_ms())
        .arg(retention_ms)
        .arg(if doubt.is_there() { "1" } else { "" })
        .arg(visits.iter().map(letter).collect::<String>());
    let call = visits
        .iter()
        .fold(call, |call, visit| call.arg(ticket_of(visit).to_string()));
    visits.iter().fold(call, |call, visit| match visit {
        Visit::Join { user, order, nonce, .. } => call.arg(user.as_str()).arg(*order).arg(nonce.as_str()),
        _ => call,
    })
}

fn ticket_of(visit: &Visit) -> Ticket {
    match visit {
        Visit::Join { ticket, .. } | Visit::Look(ticket) | Visit::Renew(ticket) | Visit::Leave(ticket) => *ticket,
    }
}

fn visited(reply: &Reply, known: &Known, visits: &[Visit]) -> Result<Visited, ScriptError> {
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    let mut values = reply.values();
    let visited = read(&mut values, visits).filter(|_| values.is_empty());
    let (room, replies) = visited.ok_or_else(|| reply.unexpected())?;
    known.hear_passes(room.passes);
    known.hear_time(room.now_ms);
    known.hear_order((!room.order.nonce.is_empty()).then(|| room.order.clone()));
    if room.counts.admitted > 0 {
        known.hear_session(room.now_ms, room.session_ms);
    }
    Ok(Visited {
        mark: reply.mark(),
        room,
        replies,
    })
}

fn read(values: &mut Values<'_>, visits: &[Visit]) -> Option<(Stepped, Vec<VisitReply>)> {
    let room = values.take()?;
    let replies = visits.iter().map(|visit| answered(values.take()?, visit));
    Some((room, replies.collect::<Option<_>>()?))
}

fn answered(answer: Answer, visit: &Visit) -> Option<VisitReply> {
    let ahead = answer.ahead;
    let seen = || Some(seen(answer.ticket?, answer.record?, ahead, visit));
    match answer.code.as_str() {
        "s" => seen().map(VisitReply::Seen),
        "n" => seen().map(VisitReply::NotAdmitted),
        "u" => Some(VisitReply::Unknown),
        "c" => Some(VisitReply::Suspended),
        "e" => Some(VisitReply::Emergency),
        "l" => Some(VisitReply::Limited { wait_ms: ahead }),
        "o" => Some(VisitReply::OtherNonce),
        _ => None,
    }
}

fn seen(ticket: Ticket, record: Record, ahead: u64, visit: &Visit) -> Seen {
    let ended = |how, at_ms| (Place::Ended { how, at_ms }, None);
    let (user, (place, joined_ms)) = match record {
        Record::Waiting { joined_ms, user, .. } => (user, (Place::Waiting { ahead }, Some(joined_ms))),
        Record::Admitted {
            admitted_ms,
            end_ms,
            joined_ms,
            user,
        } => (user, (Place::Admitted { admitted_ms, end_ms }, Some(joined_ms))),
        Record::Expired { at_ms, user } => (user, ended(End::Expired, at_ms)),
        Record::Abandoned { at_ms, user } => (user, ended(End::Abandoned, at_ms)),
        Record::Left { at_ms, user } => (user, ended(End::Left, at_ms)),
    };
    Seen {
        ticket,
        user,
        joined_ms,
        place,
        // A ticket is made for one join, so the user has it by that join or a repeat of it.
        new: matches!(visit, Visit::Join { ticket: made, .. } if *made == ticket),
    }
}
