//! Takes the steps of an entry after its first claim. Each step is decided from the entry's record, and a script does
//! it once.

use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::derived::draw_request;
use jackpot_core::jackpot::record::{Reason, Record};
use jackpot_core::jackpot::steps::Step;

use super::error::PlayError;
use super::known::Known;
use super::play::{MAX_STALE, Play};
use super::scripts::{self, Drawn, Finished, Granted, ScriptError};
use super::view::View;
use jackpot_coupon::coupons::DrawAnswer;
use jackpot_kernel::subject::Subject;

impl Play {
    /// Takes a step of an entry. Returns its record after the step.
    pub(super) async fn take_step(
        &self,
        id: &Id,
        entry_id: &str,
        player: &PersonId,
        epoch: u64,
        pinned: &Definition,
        step: &Step,
    ) -> Result<Record, PlayError> {
        // Only once, even if something becomes stale later: the coupon remembers its answer to this entry.
        let granted = match step {
            Step::Issue { coupon_id, .. } => Some(
                self.ask_coupon(&draw_request(id, entry_id, epoch), player, coupon_id)
                    .await?,
            ),
            _ => None,
        };
        let (mut known, mut view) = self.views.view(id).await?;
        for _ in 0..MAX_STALE {
            match self
                .try_step(&known, &view, entry_id, pinned, step, granted.as_ref())
                .await
            {
                Ok(finished) => {
                    known.observe(finished.mark);
                    let record = finished
                        .record
                        .ok_or_else(|| PlayError::EntryNotFound(entry_id.to_owned()))?;
                    if finished.done_now {
                        self.metrics.step(id, step, &record);
                        known.saw_outcome(&record);
                    }
                    return Ok(record);
                }
                Err(PlayError::Script(ScriptError::Stale)) => (known, view) = self.views.renew(id, &view).await?,
                Err(error) => return Err(error),
            }
        }
        Err(PlayError::Unsettled)
    }

    async fn try_step(
        &self,
        known: &Known,
        view: &View,
        entry_id: &str,
        pinned: &Definition,
        step: &Step,
        granted: Option<&Granted>,
    ) -> Result<Finished, PlayError> {
        let (fence, tiers) = (known.fence(view), view.definition.tiers());
        match (step, granted) {
            (&Step::Claim { attempt, rank }, _) => {
                let lost = || PlayError::Lost {
                    id: view.id.clone(),
                    what: format!("the prize of rank {rank}"),
                };
                let prize = pinned.money_prize(rank).ok_or_else(lost)?;
                let drawn = Drawn {
                    entry_id,
                    attempt,
                    rank,
                };
                let claiming = scripts::claim(&self.store, &known.keys, &fence, tiers, drawn, prize);
                Ok(known.observe_loss(claiming.await)?)
            }
            (&Step::Finish { attempt }, _) => Ok(known
                .observe_loss(scripts::finish(&self.store, &known.keys, &fence, tiers, entry_id, attempt).await)?),
            (
                &Step::Issue {
                    attempt,
                    rank,
                    ref coupon_id,
                },
                Some(granted),
            ) => {
                let drawn = Drawn {
                    entry_id,
                    attempt,
                    rank,
                };
                let recording =
                    scripts::record_coupon(&self.store, &known.keys, &fence, tiers, drawn, coupon_id, granted);
                Ok(known.observe_loss(recording.await)?)
            }
            (Step::Answer(_) | Step::Issue { .. }, _) => Err(PlayError::Unsettled),
        }
    }

    /// The coupon's answer to this entry, final.
    async fn ask_coupon(&self, request: &str, player: &PersonId, coupon_id: &Id) -> Result<Granted, PlayError> {
        let answer = self.coupons.issue_for_draw(coupon_id, request, player).await;
        let answer = answer.map_err(|source| PlayError::Coupon {
            coupon_id: coupon_id.clone(),
            source: Box::new(source),
        })?;
        Ok(match answer {
            DrawAnswer::Issued { sequence, code } => Granted::Issued {
                sequence,
                code: code.to_string(),
            },
            DrawAnswer::OutOfStock => Granted::Refused(Reason::OutOfStock),
            DrawAnswer::AlreadyIssued => Granted::Refused(Reason::AlreadyIssued),
            DrawAnswer::NotOpen => Granted::Refused(Reason::NotOpen),
        })
    }
}
