//! Reverses an entry whose round the game has cancelled.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use tracing::info;

use super::error::PlayError;
use super::operate::Operate;
use super::scripts::{self, Reverse, Reversed};
use crate::operator::Operator;
use crate::subject::engine::Tries;

/// An entry without a prize, as it was taken.
#[derive(Debug)]
pub struct Round<'a> {
    pub entry_id: &'a str,
    /// Number of the entry.
    pub sequence: u64,
    /// When it was taken, ms of Redis' clock.
    pub entered_ms: i64,
    pub stake: Minor,
    /// The game, site or channel that it came from.
    pub source: Option<&'a Id>,
    /// Version of the definition that it entered under.
    pub version: u64,
}

impl Operate {
    /// Takes the contribution of an entry back. Returns whether this call did it (or an earlier one with the same id).
    pub async fn reverse(
        &self,
        id: &Id,
        round: &Round<'_>,
        reversal_id: &Id,
        reason: &str,
        by: &Operator,
    ) -> Result<(bool, ReversalRecord), PlayError> {
        let reversed = self.try_reverse(id, round, reversal_id, reason, by).await;
        let ((_, reversed), within_s) = self.stop_if_damaged(id, reversed).await?;
        let entry_id = round.entry_id.to_owned();
        match reversed {
            Reversed::Done { now, record } => {
                let (who, request_id) = (&*by.who, &*by.request_id);
                info!(jackpot_id = %id, who, request_id, reason, entry_id, %reversal_id, now, "entry reversed");
                Ok((now, record))
            }
            Reversed::Other(record) => Err(PlayError::EntryReversed {
                entry_id,
                reversal_id: record.reversal_id,
            }),
            Reversed::TooLate => Err(PlayError::TooLate { entry_id, within_s }),
            Reversed::TooLarge => Err(PlayError::AmountTooLarge),
        }
    }

    /// Returns the result, and for how many seconds the entry could be reversed.
    async fn try_reverse(
        &self,
        id: &Id,
        round: &Round<'_>,
        reversal_id: &Id,
        reason: &str,
        by: &Operator,
    ) -> Result<((Mark, Reversed), u64), PlayError> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let definition = self.views.definition(id, view, round.version).await?;
            let wish = Reverse {
                entry_id: round.entry_id,
                reversal_id,
                reason,
                by,
                sequence: round.sequence,
                entered_ms: round.entered_ms,
                stake: round.stake,
                source: round.source,
                definition: &definition,
                version: round.version,
            };
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::reverse(store, &known.keys, &fence, tiers, &wish).await;
            if let Some(reversed) = tries.reply(reply).await? {
                return Ok((reversed, definition.document().reverse_within_s));
            }
        }
    }
}
