//! Reverses an entry whose round the game has cancelled.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::document::ReverseBy;
use jackpot_core::jackpot::record::State;
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::money::Minor;
use tracing::info;

use super::error::PlayError;
use super::operate::Operate;
use super::play::{MAX_STALE, wrong_source};
use super::scripts::{self, Cancelled, MAX_EARLY, Reverse, Reversed};
use super::view::{View, Views};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::subject::engine::Tries;

/// Looks for an entry by one call. Each one more needs a restore, a rotation or an entry that came meanwhile.
const MAX_LOOKS: usize = 2 * MAX_STALE;

/// What a caller asks for.
#[derive(Debug, Clone, Copy)]
pub struct ReversalWish<'a> {
    pub entry_id: &'a str,
    pub reversal_id: &'a Id,
    pub reason: &'a str,
    pub by: &'a Operator,
    /// Whether the key of `by` has the role `operate`.
    pub operates: bool,
}

/// An entry as it was taken.
#[derive(Debug, Clone)]
pub struct Round {
    /// Number of the entry.
    pub sequence: u64,
    /// When it was taken, ms of Redis' clock.
    pub entered_ms: i64,
    pub stake: Minor,
    /// The game, site or channel that it came from.
    pub source: Option<Id>,
    /// Version of the definition that it entered under.
    pub version: u64,
    /// What became of it.
    pub state: State,
}

impl Operate {
    /// Takes the contribution of an entry back. Returns whether this call did it (or an earlier one with the same id).
    ///
    /// `look` finds the entry; where there is none, the reversal is remembered and refused. It is called again whenever what was read of the jackpot is stale: a restore may have
    /// lost the entry, or given its number to another one, and the oldest records may have been dropped.
    pub async fn reverse<E: From<PlayError>>(
        &self,
        id: &Id,
        wish: &ReversalWish<'_>,
        look: impl AsyncFn() -> Result<Option<Round>, E>,
    ) -> Result<(bool, ReversalRecord), E> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        let mut looks = 0;
        let (reversed, within_s) = loop {
            looks += 1;
            if looks > MAX_LOOKS {
                return Err(PlayError::Unsettled.into());
            }
            if let Some(refusal) = refuses_key(&tries.seen.definition, wish) {
                // The definition may have changed since this instance's last reading.
                if tries.again().await? {
                    continue;
                }
                return Err(refusal.into());
            }
            // Only after the jackpot was read. So all that comes between this look and the script is stale to the
            // script.
            let Some(round) = look().await? else {
                self.cancel(id, &mut tries, wish).await?;
                continue;
            };
            if let Some(refusal) = self.refuses_source(id, &tries.seen, &round, wish).await? {
                if tries.again().await? {
                    continue;
                }
                return Err(refusal.into());
            }
            refuse_outcome(wish.entry_id, &round.state)?;
            let done = self.try_reverse(id, &mut tries, &round, wish).await;
            if let Some(done) = self.stop_if_damaged(id, done).await? {
                break done;
            }
        };
        let ReversalWish {
            entry_id,
            reversal_id,
            reason,
            by,
            ..
        } = *wish;
        let entry_id = entry_id.to_owned();
        Ok(match reversed {
            Reversed::Done { now, record } => {
                let (who, request_id) = (&*by.who, &*by.request_id);
                info!(jackpot_id = %id, who, request_id, reason, entry_id, %reversal_id, now, "entry reversed");
                (now, record)
            }
            Reversed::Other(record) => {
                let reversal_id = record.reversal_id;
                return Err(PlayError::EntryReversed { entry_id, reversal_id }.into());
            }
            Reversed::Reused => return Err(PlayError::ReversalIdReused(reversal_id.clone()).into()),
            Reversed::TooLate => return Err(PlayError::TooLate { entry_id, within_s }.into()),
            Reversed::TooLarge => return Err(PlayError::AmountTooLarge.into()),
        })
    }

    /// Remembers the reversal of an entry that is not there, and refuses it. Returns when there is reason to look again.
    async fn cancel(&self, id: &Id, tries: &mut Tries<'_, Views>, wish: &ReversalWish<'_>) -> Result<(), PlayError> {
        let (known, view) = (&tries.known, &tries.seen);
        let (document, who) = (view.definition.document(), &wish.by.who);
        let is_of_key = document.reverse_by == ReverseBy::Play && !document.sources.is_empty();
        let (entry_id, key) = (wish.entry_id.to_owned(), Id::parse(who).ok().filter(|_| is_of_key));
        if is_of_key && key.is_none() {
            return Err(PlayError::EntryNotFound(entry_id));
        }
        let cancel = scripts::Cancel {
            entry_id: wish.entry_id,
            reversal_id: wish.reversal_id,
            reason: wish.reason,
            by: wish.by,
            key,
        };
        let reply = scripts::cancel(self.views.registry.store(), &known.keys, &known.fence(view), cancel).await;
        match tries.reply(reply).await?.map(|(_, cancelled)| cancelled) {
            None | Some(Cancelled::Found) => Ok(()),
            Some(Cancelled::Reused) => Err(PlayError::ReversalIdReused(wish.reversal_id.clone())),
            Some(Cancelled::TooMany) => {
                let key = who.clone();
                Err(PlayError::TooManyCancels {
                    entry_id,
                    key,
                    limit: MAX_EARLY,
                })
            }
            Some(Cancelled::Remembered { now }) => {
                let ReversalWish {
                    reversal_id,
                    reason,
                    by,
                    ..
                } = *wish;
                let request_id = &*by.request_id;
                info!(jackpot_id = %id, who, request_id, reason, entry_id, %reversal_id, now, "entry cancelled before it came");
                Err(PlayError::EntryNotFound(entry_id))
            }
        }
    }

    /// Whether the key may not send entries of this entry's source: by the definition in force, or by that of the entry
    /// when the one in force does not name the source any more.
    async fn refuses_source(
        &self,
        id: &Id,
        view: &View,
        round: &Round,
        wish: &ReversalWish<'_>,
    ) -> Result<Option<PlayError>, PlayError> {
        let in_force = &view.definition;
        if in_force.document().reverse_by == ReverseBy::Operate {
            return Ok(None);
        }
        let source = round.source.as_ref().map(Id::as_str);
        let forbids = self
            .views
            .forbids(id, view, source, round.version, &wish.by.who)
            .await?;
        Ok(forbids.then(|| wrong_source(source, &wish.by.who)))
    }

    /// Returns the result, and for how many seconds the entry could be reversed; `None`: what was read is stale.
    async fn try_reverse(
        &self,
        id: &Id,
        tries: &mut Tries<'_, Views>,
        round: &Round,
        wish: &ReversalWish<'_>,
    ) -> Result<Option<(Reversed, u64)>, PlayError> {
        let (known, view) = (&tries.known, &tries.seen);
        let definition = self.views.definition(id, view, round.version).await?;
        let reverse = Reverse {
            entry_id: wish.entry_id,
            reversal_id: wish.reversal_id,
            reason: wish.reason,
            by: wish.by,
            sequence: round.sequence,
            entered_ms: round.entered_ms,
            stake: round.stake,
            source: round.source.as_ref(),
            definition: &definition,
            version: round.version,
        };
        let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
        let reply = scripts::reverse(store, &known.keys, &fence, tiers, &reverse).await;
        let reversed = tries.reply(reply).await?;
        Ok(reversed.map(|(_, reversed)| (reversed, definition.document().reverse_within_s)))
    }
}

/// Whether the key may not cancel any round of the jackpot.
fn refuses_key(definition: &Definition, wish: &ReversalWish<'_>) -> Option<PlayError> {
    let key = &wish.by.who;
    match definition.document().reverse_by {
        ReverseBy::Operate => (!wish.operates).then_some(PlayError::ReversedByOperators),
        ReverseBy::Play => definition.forbids_all(key).then(|| PlayError::NoSource(key.clone())),
    }
}

fn refuse_outcome(entry_id: &str, state: &State) -> Result<(), PlayError> {
    match state {
        State::Paid { .. } | State::MustHit { .. } | State::Issued { .. } => {
            Err(PlayError::EntryHasPrize(entry_id.to_owned()))
        }
        State::Pending { .. } => Err(PlayError::EntryPending(entry_id.to_owned())),
        State::Lost | State::Ended { .. } => Ok(()),
    }
}
