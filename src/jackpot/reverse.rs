//! Reverses an entry whose round the game has cancelled.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::money::Minor;
use tracing::info;

use super::error::PlayError;
use super::operate::Operate;
use super::scripts::{self, Reverse, Reversed};
use super::view::Views;
use crate::operator::Operator;
use crate::subject::engine::Tries;

/// What a caller asks for.
#[derive(Debug, Clone, Copy)]
pub struct ReversalWish<'a> {
    pub entry_id: &'a str,
    pub reversal_id: &'a Id,
    pub reason: &'a str,
    pub by: &'a Operator,
}

/// An entry without a prize, as it was taken.
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
}

impl Operate {
    /// Takes the contribution of an entry back. Returns whether this call did it (or an earlier one with the same id).
    ///
    /// `look` finds the entry. It is called again whenever what was read of the jackpot is stale: a restore may have
    /// lost the entry, or given its number to another one, and the oldest records may have been dropped.
    pub async fn reverse<E: From<PlayError>>(
        &self,
        id: &Id,
        wish: &ReversalWish<'_>,
        look: impl AsyncFn() -> Result<Round, E>,
    ) -> Result<(bool, ReversalRecord), E> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        let (reversed, within_s) = loop {
            // Only after the jackpot was read. So all that comes between this look and the script is stale to the
            // script.
            let round = look().await?;
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
            Reversed::TooLate => return Err(PlayError::TooLate { entry_id, within_s }.into()),
            Reversed::TooLarge => return Err(PlayError::AmountTooLarge.into()),
        })
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
