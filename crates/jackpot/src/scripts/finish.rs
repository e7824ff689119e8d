//! `lua/jackpot/claim.lua` and `lua/jackpot/finish.lua`: the scripts that finish a pending entry.

use jackpot_core::jackpot::definition::MoneyPrize;
use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::record::Record;
use jackpot_core::mark::Mark;

use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;

use super::{CLAIM, FINISH, Fence, Reply, ScriptError, fenced, pools, run_here, segment::money_text, settling_keys};

reply! {
    /// `ok`: the entry after the call.
    pub(super) struct Settled {
        /// Whether this call wrote its record. It did not if the entry had its outcome, or this rank refused it before.
        done_now: bool,
        /// Its record.
        record: String,
    }
}

/// The record after a claim or a finish.
#[derive(Debug)]
pub struct Finished {
    pub mark: Mark,
    /// The record; `None` if there is none.
    pub record: Option<Record>,
    /// Whether this call wrote it.
    pub done_now: bool,
}

/// What an attempt of an entry drew.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    pub entry_id: &'a str,
    pub attempt: u32,
    pub rank: u32,
}

/// Claims the prize that an attempt of a pending entry drew. `tiers`: of the definition in the fence.
pub async fn claim(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    drawn: Drawn<'_>,
    prize: &MoneyPrize,
) -> Result<Finished, ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let call = fenced(&CLAIM, &settling_keys(keys, &pools), fence)
        .arg(drawn.entry_id)
        .arg(drawn.attempt)
        .arg(drawn.rank)
        .arg(money_text(prize))
        .arg(&fence.prepared);
    finished(&run_here(store, &CLAIM, call, fence.known).await?.fenced()?)
}

/// Ends a pending entry with no prize. `tiers`: of the definition in the fence.
pub async fn finish(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    tiers: &[Tier],
    entry_id: &str,
    attempt: u32,
) -> Result<Finished, ScriptError> {
    let pools = pools(keys, tiers).collect::<Vec<_>>();
    let call = fenced(&FINISH, &settling_keys(keys, &pools), fence)
        .arg(entry_id)
        .arg(attempt)
        .arg(&fence.prepared);
    finished(&run_here(store, &FINISH, call, fence.known).await?.fenced()?)
}

pub(super) fn finished(reply: &Reply) -> Result<Finished, ScriptError> {
    if reply.code() == "missing" {
        return Ok(Finished {
            mark: reply.mark(),
            record: None,
            done_now: false,
        });
    }
    if reply.code() != "ok" {
        return Err(reply.unexpected());
    }
    let Settled { done_now, record } = reply.read()?.values;
    Ok(Finished {
        mark: reply.mark(),
        record: Some(Record::parse_whole(&record)?),
        done_now,
    })
}
