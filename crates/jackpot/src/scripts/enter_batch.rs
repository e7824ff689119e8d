//! `lua/jackpot/enter_batch.lua` and `lua/jackpot/lookup_batch.lua`.

use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::Record;
use jackpot_core::mark::Mark;

use jackpot_kernel::reply;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store};

use super::Reply;
use super::segment::add_segment;
use super::{ENTER_BATCH, Fence, LOOKUP_BATCH, Refusal, ScriptError, fenced, run, settling_keys};
use crate::batch::{Batch, Drawn};
use jackpot_kernel::subject::List;

/// A drawn batch.
#[derive(Debug)]
pub struct BatchCall<'a> {
    pub batch: &'a Batch,
    /// Its [`Batch::fingerprint`].
    pub fingerprint: &'a str,
    /// Its entries in one segment, or in two when a definition comes into force within it; each with the definition of
    /// its draw.
    pub segments: &'a [(&'a Drawn, &'a Definition)],
    /// The early cancels of its entries, none of which is for the source of its entry: what [`BatchReply::Cancelled`]
    /// said; empty for none.
    pub cancels: &'a str,
}

/// The reply of one call.
#[derive(Debug)]
pub enum BatchReply {
    /// Taken by this call, or before it.
    Found(FoundBatch),
    /// The entry at this index (from 1), not the last, put the waiting definition in force: draw the entries after it
    /// under that one. Nothing was written.
    Split(usize),
    /// Reversals of some of its entries came before it: a line `index record` for each. Nothing was written.
    Cancelled(String),
    /// Its entries make more claims than one call may. Nothing was written.
    TooManyClaims,
    /// More cycles end in it than one batch may end. Nothing was written.
    TooManyTakes,
    /// Refused whole. Nothing was written.
    Refused(Refusal),
}

reply! {
    /// `ok`: a taken batch. The record of each winner follows, in the order of their indexes.
    pub(super) struct Taken {
        /// Whether it had been taken before this call.
        replayed: bool,
        /// Its record.
        record: String,
    }
}

reply! {
    /// An entry of the batch that drew a prize.
    pub(super) struct Winner {
        /// Its record.
        record: String,
    }
}

reply! {
    /// `split`: an entry took all and put the waiting definition in force. Nothing was written. Draw the entries after
    /// it under that definition, and send them as the second segment.
    pub(super) struct SplitAt {
        /// Index of that entry, from 1.
        index: u64,
    }
}

reply! {
    /// `cancelled`: reversals of some of its entries came before it. Nothing was written.
    pub(super) struct CancelledBefore {
        /// A line of each such entry: its index, and the record of its early cancels.
        cancels: String,
    }
}

/// A taken batch.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundBatch {
    pub record: BatchRecord,
    /// The records of its winners, in the order of their indexes.
    pub winners: Vec<Record>,
    /// Whether it had been taken before this call.
    pub replayed: bool,
}

/// Usual bytes of a call beside its block.
const BESIDE_THE_BLOCK: usize = 4_096;

/// Takes a batch under the definition of the fence's version, which is the first segment's. Returns the mark with the
/// result.
pub async fn enter_batch(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    batch: &BatchCall<'_>,
) -> Result<(Mark, BatchReply), ScriptError> {
    let pools = pools(keys, batch.segments);
    let amounts = batch.segments.iter().map(|(drawn, _)| drawn.segment.amounts.as_str());
    let entries = &batch.batch.entries;
    let mut list = List::with_capacity(entries.block().len() + BESIDE_THE_BLOCK);
    list.text(batch.batch.batch_id.as_str())
        .text(batch.fingerprint)
        .count(entries.len());
    list.text(entries.block()).text(&amounts.collect::<Vec<_>>().join("|"));
    list.count(batch.segments.len());
    for (drawn, definition) in batch.segments {
        list.text(&drawn.stamp).count(drawn.positions.len());
        add_segment(&mut list, &drawn.segment, definition);
    }
    let call = fenced(&ENTER_BATCH, &settling_keys(keys, &pools), fence)
        .arg(list)
        .arg(&fence.prepared)
        .arg(batch.cancels);
    let reply = Reply::parse(ENTER_BATCH.name(), store.call_long(&call).await?, fence.known)?;
    let refused = |refusal| Ok((reply.mark(), BatchReply::Refused(refusal)));
    match reply.code() {
        "ok" => Ok((reply.mark(), BatchReply::Found(found(&reply)?))),
        "split" => match usize::try_from(reply.read::<SplitAt>()?.index) {
            Ok(index) if (1..batch.batch.entries.len()).contains(&index) => {
                Ok((reply.mark(), BatchReply::Split(index)))
            }
            _ => Err(reply.unexpected()),
        },
        "cancelled" => Ok((
            reply.mark(),
            BatchReply::Cancelled(reply.read::<CancelledBefore>()?.values.cancels),
        )),
        "too-many" => Ok((reply.mark(), BatchReply::TooManyClaims)),
        "too-many-takes" => Ok((reply.mark(), BatchReply::TooManyTakes)),
        "cycles" => refused(Refusal::Cycles),
        "paused" => refused(Refusal::Paused),
        "suspended" => refused(Refusal::Suspended),
        "closed" => refused(Refusal::Closed),
        "stopped" => refused(Refusal::Emergency),
        "stale" => refused(Refusal::Stale),
        "too-large" => refused(Refusal::TooLarge),
        _ => Err(reply.unexpected()),
    }
}

/// Looks a batch up; `None` when there is no record of it.
pub async fn lookup_batch(
    store: &Store,
    keys: &JackpotKeys,
    known: Mark,
    batch_id: &str,
) -> Result<Option<FoundBatch>, ScriptError> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b];
    let call = fixed
        .into_iter()
        .fold(Call::new(&LOOKUP_BATCH), Call::key)
        .arg(known.packed())
        .arg(batch_id);
    let reply = run(store, &LOOKUP_BATCH, call, known).await?;
    match reply.code() {
        "missing" => Ok(None),
        "ok" => found(&reply).map(Some),
        _ => Err(reply.unexpected()),
    }
}

/// The pools of the first segment's tiers, then of the tiers that only the second has.
fn pools(keys: &JackpotKeys, segments: &[(&Drawn, &Definition)]) -> Vec<String> {
    let mut pools = Vec::new();
    for (_, definition) in segments {
        for tier in definition.tiers() {
            let pool = keys.pool(&tier.tier);
            if !pools.contains(&pool) {
                pools.push(pool);
            }
        }
    }
    pools
}

fn found(reply: &Reply) -> Result<FoundBatch, ScriptError> {
    let mut values = reply.values();
    let read = values.take().zip(values.rest::<Winner>());
    let (Taken { replayed, record }, winners) = read.ok_or_else(|| reply.unexpected())?;
    let record = BatchRecord::parse(&record)?;
    let winners = winners.iter().map(|winner| Record::parse(&winner.record));
    let winners = winners.collect::<Result<Vec<_>, _>>()?;
    if winners.len() != record.winners.len() {
        return Err(reply.unexpected());
    }
    Ok(FoundBatch {
        record,
        winners,
        replayed,
    })
}
