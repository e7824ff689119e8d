//! From a batch to its answer: draw → one call → the outcomes. The answer is the same as for its entries one after the
//! other. Each step is decided by Redis' records, so a repeat by any instance finds what the first one wrote.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::record::{Record, State, Unreadable};

use super::work::work;
use super::{Batch, Drawn};
use crate::error::PlayError;
use crate::known::Known;
use crate::play::{MAX_STALE, Play, not_cancelled, refused, wrong_source};
use crate::scripts::{self, BatchCall, BatchReply, FoundBatch, Refusal, ScriptError};
use crate::segment::TooLarge;
use crate::view::{View, parse_definition};
use jackpot_kernel::subject::Subject;
use jackpot_room::door::{DoorError, NoPass};

/// Most fields named in one refusal.
const MAX_VIOLATIONS: usize = 100;

/// Winners finished in parallel, because a batch that drew coupons may have thousands.
const RESOLVED_AT_ONCE: usize = 64;

/// A batch with the outcomes of its entries.
#[derive(Debug)]
pub struct BatchPlayed {
    /// Its record in Redis.
    pub record: BatchRecord,
    /// The winners, by their indexes.
    pub winners: Vec<Winner>,
    /// Whether it had been answered before this call.
    pub replayed: bool,
}

/// An entry that won.
#[derive(Debug)]
pub struct Winner {
    /// Its index in the batch, from 1.
    pub index: usize,
    /// Its record, with its prize.
    pub record: Record,
    /// The definition under which it was drawn.
    pub definition: Arc<Definition>,
}

/// The waiting definition, and where in the batch it comes into force.
struct Waiting {
    /// Position of the first entry drawn under it, from 0.
    from: usize,
    definition: Arc<Definition>,
    stamp: String,
}

/// Each segment with the definition of its draw.
type Segments = Vec<(Drawn, Arc<Definition>)>;

impl Play {
    /// Takes a whole batch to its outcomes. Safe to repeat: the same id gives the same answer. `key`: the name of the key
    /// that sends it.
    pub async fn enter_batch(&self, id: &Id, batch: &Arc<Batch>, key: &str) -> Result<BatchPlayed, PlayError> {
        let result = self.enter_batch_once(id, batch, key).await;
        let result = self.stop_if_damaged(id, result).await;
        let result = self.with_reason(id, result).await;
        // A client may have invented this name, and it must not become a label.
        if self.views.registry.is_used(id) {
            self.metrics.batch(id, batch.entries.len(), &result);
        }
        result
    }

    async fn enter_batch_once(&self, id: &Id, batch: &Arc<Batch>, key: &str) -> Result<BatchPlayed, PlayError> {
        let fingerprint = batch.fingerprint();
        let (mut known, mut view) = self.views.view(id).await?;
        let (mut waiting, mut lacked, mut cancels) = (None, false, String::new());
        for _ in 0..MAX_STALE {
            let drawn = match self.batch_refusal(&known, &view, waiting.as_ref(), batch, key) {
                None => draw(batch, &view, waiting.as_ref()).await?,
                Some(refusal) => Err(refusal),
            };
            let drawn = if let Ok(drawn) = drawn {
                drawn
            } else {
                // A repeat is answered before any check but that of its sources' keys. And a limit that was raised after this instance's last
                // reading refuses nobody.
                let before = view.stamp.clone();
                (known, view) = self.views.refresh(id).await?;
                if view.stamp != before {
                    waiting = None;
                }
                let (all, in_force) = (0..batch.entries.len(), &view.definition);
                if let (None, Some(refusal)) = (&waiting, wrong_key(batch, all, in_force, key)) {
                    return Err(refusal);
                }
                let batch_id = batch.batch_id.as_str();
                let found = scripts::lookup_batch(&self.store, &known.keys, known.mark(), batch_id).await;
                if let Some(found) = known.observe_loss(found)? {
                    return self.answer_batch(&view, batch, &fingerprint, found).await;
                }
                if let Some(refusal) = self.batch_refusal(&known, &view, waiting.as_ref(), batch, key) {
                    return Err(refusal);
                }
                draw(batch, &view, waiting.as_ref()).await??
            };
            match self
                .call_batch(&known, &view, batch, &fingerprint, &drawn, &cancels)
                .await?
            {
                BatchReply::Found(found) => {
                    if lacked {
                        known.bring_usual_cycles();
                    }
                    if !found.replayed {
                        self.metrics.batch_claims(id, &found.winners);
                        found.winners.iter().for_each(|record| known.saw_outcome(record));
                    }
                    return self.answer_batch(&view, batch, &fingerprint, found).await;
                }
                BatchReply::Split(index) => waiting = self.waiting(id, index).await?,
                BatchReply::Cancelled(lines) => {
                    (known, view) = self.views.refresh(id).await?;
                    refuse_cancelled(batch, &lines, &view.definition)?;
                    cancels = lines;
                }
                BatchReply::TooManyClaims => {
                    let rule = "draw too many prizes that their pools refuse: send fewer at a time";
                    return Err(PlayError::Invalid(vec![Violation::new("entries", rule)]));
                }
                BatchReply::TooManyTakes => return Err(PlayError::TooManyTakes),
                BatchReply::Refused(refusal @ (Refusal::Stale | Refusal::Cycles)) => {
                    if refusal == Refusal::Cycles {
                        known.lacks_cycles(&mut lacked);
                    }
                    waiting = None;
                    (known, view) = self.views.refresh(id).await?;
                }
                BatchReply::Refused(refusal) => return Err(refused(refusal)),
            }
        }
        Err(PlayError::Unsettled)
    }

    /// The checks of a new batch before Redis is called.
    fn batch_refusal(
        &self,
        known: &Known,
        view: &View,
        waiting: Option<&Waiting>,
        batch: &Batch,
        key: &str,
    ) -> Option<PlayError> {
        if let Some(refusal) = self.busy(known) {
            return Some(refusal);
        }
        // The definition that comes into force within the batch counts too.
        let waits = waiting.is_some_and(|waiting| waiting.definition.room().is_some());
        if waits || view.definition.room().is_some() {
            return Some(DoorError::Required(NoPass::Batch).into());
        }
        let end = waiting.map_or(batch.entries.len(), |waiting| waiting.from);
        let mut parts = vec![(0..end, view.definition.as_ref())];
        if let Some(waiting) = waiting {
            parts.push((end..batch.entries.len(), waiting.definition.as_ref()));
        }
        let mut wrong = Vec::new();
        for (positions, definition) in parts {
            if let Some(refusal) = wrong_key(batch, positions.clone(), definition, key) {
                return Some(refusal);
            }
            wrong.extend(refused_entries(batch, positions, definition));
        }
        wrong.truncate(MAX_VIOLATIONS);
        (!wrong.is_empty()).then_some(PlayError::Invalid(wrong))
    }

    async fn call_batch(
        &self,
        known: &Known,
        view: &View,
        batch: &Batch,
        fingerprint: &str,
        drawn: &Segments,
        cancels: &str,
    ) -> Result<BatchReply, PlayError> {
        let segments = drawn.iter().map(|(drawn, definition)| (drawn, definition.as_ref()));
        let call = BatchCall {
            batch,
            fingerprint,
            segments: &segments.collect::<Vec<_>>(),
            cancels,
        };
        let reply = scripts::enter_batch(&self.store, &known.keys, &known.fence(view), &call).await;
        let (mark, reply) = known.observe_loss(reply)?;
        known.observe(mark);
        Ok(reply)
    }

    /// The definition that comes into force after the entry at `index` (from 1). `None` when none waits any more: then
    /// all entries are drawn again under the definition in force.
    async fn waiting(&self, id: &Id, index: usize) -> Result<Option<Waiting>, PlayError> {
        let snapshot = self.views.snapshot(id).await?;
        let Some(json) = snapshot.waiting else {
            return Ok(None);
        };
        let definition = Arc::new(parse_definition(id, &json)?);
        Ok(Some(Waiting {
            from: index,
            // The waiting definition always has the last version.
            stamp: format!("{} {}", snapshot.last_version, definition.money_digest()),
            definition,
        }))
    }

    /// The answer for a taken batch. Finishes each of its winners, in sequence.
    async fn answer_batch(
        &self,
        view: &View,
        batch: &Batch,
        fingerprint: &str,
        found: FoundBatch,
    ) -> Result<BatchPlayed, PlayError> {
        let FoundBatch {
            record,
            winners: records,
            replayed,
        } = found;
        if record.fingerprint != fingerprint {
            return Err(PlayError::BatchIdReused(batch.batch_id.as_str().to_owned()));
        }
        self.meet_coupons(view, &records).await?;
        let mut winners = Vec::with_capacity(records.len());
        let mut last: Option<(u64, Arc<Definition>)> = None;
        // In parallel, but begun in sequence, so that coupons go to the first winners that drew them.
        let begun = record
            .winners
            .clone()
            .into_iter()
            .zip(records)
            .map(|(index, won)| async move {
                let index = usize::try_from(index).map_err(|_| PlayError::Unsettled)?;
                Ok::<_, PlayError>((index, self.coupons_of(view, batch, index, won).await?))
            });
        let begun: Vec<_> = stream::iter(begun).buffered(RESOLVED_AT_ONCE).try_collect().await?;
        for (index, won) in begun {
            // One after the other, because only claims of money are left.
            let won = self.outcome(view, batch, index, won).await?;
            let definition = match &last {
                Some((version, definition)) if *version == won.version => definition.clone(),
                _ => self.views.definition(&view.id, view, won.version).await?,
            };
            last = Some((won.version, definition.clone()));
            if won.state.is_won() {
                winners.push(Winner {
                    index,
                    record: won,
                    definition,
                });
            }
        }
        Ok(BatchPlayed {
            record,
            winners,
            replayed,
        })
    }

    /// Reads the definitions, seeds and coupons of the pending winners. After it a winner asks for its coupon without
    /// waiting for Redis first, so the winners ask in sequence.
    async fn meet_coupons(&self, view: &View, records: &[Record]) -> Result<(), PlayError> {
        let pending = records
            .iter()
            .filter(|record| matches!(record.state, State::Pending { .. }));
        let drawn: BTreeSet<_> = pending.map(|record| (record.version, record.epoch)).collect();
        for (version, epoch) in drawn {
            let definition = self.views.definition(&view.id, view, version).await?;
            self.views.seed_of(&view.id, view, epoch).await?;
            for (_, coupon) in definition.document().coupons() {
                self.coupons.meet(coupon).await;
            }
        }
        Ok(())
    }

    /// The record of a winner after the coupons that it drew before any money.
    async fn coupons_of(&self, view: &View, batch: &Batch, index: usize, record: Record) -> Result<Record, PlayError> {
        if !matches!(record.state, State::Pending { .. }) {
            return Ok(record);
        }
        let (entry_id, sent) = (batch.batch_id.entry_id(index), batch.entries.sent(index - 1));
        self.resolve_coupons(view, &entry_id, &sent, record).await
    }

    async fn outcome(&self, view: &View, batch: &Batch, index: usize, record: Record) -> Result<Record, PlayError> {
        if !matches!(record.state, State::Pending { .. }) {
            return Ok(record);
        }
        let (entry_id, sent) = (batch.batch_id.entry_id(index), batch.entries.sent(index - 1));
        Ok(self.resolve(view, entry_id, sent, record, true).await?.record)
    }
}

/// Draws all entries. The entries after a definition comes into force are drawn under it.
async fn draw(
    batch: &Arc<Batch>,
    view: &Arc<View>,
    waiting: Option<&Waiting>,
) -> Result<Result<Segments, PlayError>, PlayError> {
    let end = batch.entries.len();
    let mut plan = vec![(0..end, view.definition.clone(), view.stamp.clone())];
    if let Some(waiting) = waiting {
        plan[0].0 = 0..waiting.from;
        plan.push((waiting.from..end, waiting.definition.clone(), waiting.stamp.clone()));
    }
    let (batch, view) = (batch.clone(), view.clone());
    let drawing = move || {
        let one = |(positions, definition, stamp): (_, Arc<Definition>, String)| {
            let drawn = Drawn::draw(
                &batch,
                positions,
                &view.seed,
                &definition,
                &stamp,
                view.cycles.has_open(),
            )?;
            Ok((drawn, definition))
        };
        plan.into_iter().map(one).collect::<Result<Segments, TooLarge>>()
    };
    let drawn = work(end, drawing).await.ok_or(PlayError::Unsettled)?;
    Ok(drawn.map_err(|TooLarge| PlayError::AmountTooLarge))
}

/// Refuses a batch with an entry that a reversal for its source came before. `lines`: as the script said.
fn refuse_cancelled(batch: &Batch, lines: &str, definition: &Definition) -> Result<(), PlayError> {
    for line in lines.lines() {
        let one = line
            .split_once(' ')
            .and_then(|(index, record)| Some((index.parse::<usize>().ok()?, record)));
        let (index, record) = one.ok_or_else(|| ScriptError::from(Unreadable::of(line)))?;
        let sent = batch.entries.sent(index - 1);
        not_cancelled(&batch.batch_id.entry_id(index), &sent, record, definition)?;
    }
    Ok(())
}

/// Whether a source of these entries does not take them from this key.
fn wrong_key(batch: &Batch, positions: Range<usize>, definition: &Definition, key: &str) -> Option<PlayError> {
    let mut sources = positions.map(|i| batch.entries.source(i));
    let source = sources.find(|source| definition.forbids(*source, key))?;
    Some(wrong_source(source, key))
}

fn refused_entries(batch: &Batch, positions: Range<usize>, definition: &Definition) -> Vec<Violation> {
    let entries = &batch.entries;
    let fits = |stake| definition.refuses(stake, None, None).is_none();
    if !entries.name_sources() && fits(entries.min_stake()) && fits(entries.max_stake()) {
        return Vec::new();
    }
    let of = |i| definition.refuses(entries.stake(i), entries.source(i), entries.ranks(i).as_ref());
    let refused = positions.filter_map(|i| Some((i, of(i)?)));
    refused
        .take(MAX_VIOLATIONS)
        .map(|(i, broken)| Violation::new(format!("entries[{i}].{}", broken.field), broken.rule))
        .collect()
}
