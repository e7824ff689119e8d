//! `lua/room/revoked.lua`.

use crate::known::Known;
use crate::ticket::Ticket;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::Marked;

use super::{Mark, REVOKED, Reply, ScriptError, call, run};

pub const MAX_REVOKED: usize = 10_000;

/// Passes that were revoked before they expired, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    pub mark: Mark,
    /// The room's time, ms.
    pub now_ms: i64,
    /// Number of passes given and revoked.
    pub passes: u64,
    /// Until when nobody is or was admitted because tickets were lost, ms. If it differs from the last reply, numbers
    /// that the caller has read may be in use again. Then read all again, from 0.
    pub hold_ms: i64,
    /// The caller now has all up to this number. The next call begins after it.
    pub last: u64,
    /// This is the last page.
    pub complete: bool,
    /// By number.
    pub items: Vec<RevokedPass>,
}

impl Marked for Revoked {
    fn mark(&self) -> Mark {
        self.mark
    }
}

reply! {
    /// `ok`: a page of revoked passes. Each follows, by number.
    pub(super) struct RevokedPage {
        /// The room's time.
        now_ms: i64,
        /// Number of passes given and revoked.
        passes: u64,
        /// Until when nobody is or was admitted because tickets were lost. If it differs from the last reply, numbers
        /// that the caller has read may be in use again. Then it reads all again, from 0.
        hold_ms: i64,
        /// The caller now has all up to this number. The next call begins after it.
        last: u64,
        /// This is the last page.
        complete: bool,
    }
}

reply! {
    /// A revoked pass.
    #[derive(Copy)]
    pub struct RevokedPass {
        /// Its revocation number.
        pub number: u64,
        /// Its ticket.
        pub ticket: Ticket,
        /// When it expires.
        pub exp_ms: i64,
        /// When it was revoked.
        pub at_ms: i64,
    }
}

/// Lists at most `limit`, 1 to [`MAX_REVOKED`], after the number `after`; writes nothing. Expired passes may be
/// missing.
/// Panics when `limit` is out of its range.
pub async fn revoked(store: &Store, known: &Known, after: u64, limit: usize) -> Result<Revoked, ScriptError> {
    assert!((1..=MAX_REVOKED).contains(&limit), "1 to {MAX_REVOKED} a page");
    let mark = known.mark();
    let call = call(&REVOKED, &known.keys, mark).arg(after).arg(limit);
    let reply = run(store, &REVOKED, call, mark).await?;
    let page = parse(&reply).ok_or_else(|| reply.unexpected())?;
    known.hear_passes(page.passes);
    known.hear_time(page.now_ms);
    Ok(page)
}

fn parse(reply: &Reply) -> Option<Revoked> {
    let mut values = reply.values();
    let page: RevokedPage = values.take()?;
    let items = values.rest()?;
    (reply.code() == "ok").then_some(Revoked {
        mark: reply.mark(),
        now_ms: page.now_ms,
        passes: page.passes,
        hold_ms: page.hold_ms,
        last: page.last,
        complete: page.complete,
        items,
    })
}
