//! Settlement of payouts: approve, settle, fail, void and withdraw (docs/decisions/0056).
//!
//! The ledger says where a payout is. A call reads it, decides, and lets a script take the step if the ledger has the last
//! one of this payout. Then it waits until the ledger has the step, and reads again: so a call ends only by what the ledger
//! says, also when a restore lost the step in between.

use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::settlement::{Attempt, Decision, Ended, Refusal, Standing, State, Step, Terms, Wish};
use jackpot_core::wire::Field;
use sqlx::Row;
use thiserror::Error;
use tokio::time::{Instant, sleep};
use tracing::info;

use super::error::PlayError;
use super::ledger::queries::payouts::standing;
use super::operate::Operate;
use super::scripts::{self, Approval, Approved, Settle, Stepped};
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::engine::Tries;
use jackpot_kernel::subject::kinds::JACKPOT;

/// For how long a call waits until the ledger has its step.
pub(super) const WAIT: Duration = Duration::from_secs(5);
/// Pause before the second look; it doubles from look to look, up to the longest one.
const PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// Why a step was not taken.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SettlementError {
    #[error("payout '{0}' is not tracked: settlement was none in the definition when it was claimed")]
    NotTracked(String),
    #[error("payout '{0}' is held: a key with the role approve has to approve it first")]
    Held(String),
    #[error("payout '{0}' is settled")]
    Settled(String),
    #[error("payout '{0}' is to be voided: another owner has asked for it")]
    VoidRequested(String),
    #[error("payout '{0}' is not to be voided: nobody has asked for it, or the request was withdrawn")]
    NotVoidRequested(String),
    #[error("payout '{0}' is void")]
    Void(String),
    #[error("settlement id '{0}' was used before in this jackpot, for another payout or with other content")]
    IdReused(Id),
    #[error("'{owner}' {why}: use a key of another owner")]
    SameOwner { owner: String, why: &'static str },
    #[error("a later PUT asked for another limit than version {0}: approve the version of that one")]
    Superseded(u64),
    /// The step is made or not; a repeat says.
    #[error("the ledger does not have the step of payout '{0}' yet")]
    NotInLedger(String),
}

/// What an operator asks for.
#[derive(Debug)]
pub enum Asked {
    /// Let a held payout go.
    Approve { reason: String },
    /// The winner has the money.
    Settle { settlement_id: Id, reference: String },
    /// The winner has it not.
    Fail { settlement_id: Id, reason: String },
    /// Take it back.
    Void { reason: String },
    /// Withdraw the request to take it back.
    Withdraw { reason: String },
}

impl Asked {
    /// `first`: where the payout began.
    fn wish(&self, first: State) -> Wish {
        let attempt = |ended, settlement_id: &Id, text: &str| {
            Wish::Report(Attempt {
                ended,
                settlement_id: settlement_id.to_string(),
                text: text.to_owned(),
                at_ms: 0,
            })
        };
        match self {
            Self::Approve { .. } => Wish::Approve,
            Self::Settle {
                settlement_id,
                reference,
            } => attempt(Ended::Settled, settlement_id, reference),
            Self::Fail { settlement_id, reason } => attempt(Ended::Failed, settlement_id, reason),
            Self::Void { .. } => Wish::Void,
            Self::Withdraw { .. } => Wish::Withdraw { first },
        }
    }

    fn settlement_id(&self) -> Option<&Id> {
        match self {
            Self::Settle { settlement_id, .. } | Self::Fail { settlement_id, .. } => Some(settlement_id),
            Self::Approve { .. } | Self::Void { .. } | Self::Withdraw { .. } => None,
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Settle { reference, .. } => reference,
            Self::Approve { reason }
            | Self::Fail { reason, .. }
            | Self::Void { reason }
            | Self::Withdraw { reason } => reason,
        }
    }
}

/// A tracked payout.
struct Payout {
    standing: Standing,
    /// Where it began.
    first: State,
    tier: Id,
    amount: u64,
}

/// What the ledger has, all as of one event.
struct Looked {
    /// The number of that event.
    seen: u64,
    /// `None`: it is not tracked.
    payout: Option<Payout>,
    /// The payout for which the settlement id was used, and how.
    used: Option<(String, Attempt)>,
}

impl Operate {
    /// Takes the step that an operator asks for, unless it is taken. The caller knows that the jackpot made the payout.
    pub async fn settle_payout<E: From<PlayError> + From<LedgerError>>(
        &self,
        sql: &Sql,
        jackpot: &Id,
        payout_id: &str,
        asked: &Asked,
        by: &Operator,
    ) -> Result<(), E> {
        let until = Instant::now() + WAIT;
        let mut tries = Tries::begin(&*self.views, jackpot).await?;
        loop {
            // Only after the jackpot was read. So all that comes between this look and the script is stale to the
            // script, or later than what was seen.
            let looked = look(sql, jackpot, payout_id, asked.settlement_id()).await?;
            let Some((payout, step, after)) = decide(&looked, payout_id, asked, by)? else {
                return Ok(());
            };
            let settle = Settle {
                payout_id,
                seen: looked.seen,
                step,
                before: payout.standing.state,
                after: &after,
                tier: &payout.tier,
                amount: payout.amount,
                reason: asked.reason(),
                by,
            };
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::settle(store, &known.keys, &fence, tiers, &settle).await;
            let reply = self.stop_if_damaged(jackpot, tries.reply(reply).await).await?;
            let n = match reply {
                None => continue,
                Some((mark, Stepped::Done)) => {
                    let (who, request_id, reason) = (&*by.who, &*by.request_id, asked.reason());
                    let step = step.as_str();
                    info!(jackpot_id = %jackpot, who, request_id, reason, payout_id, step, "step of a payout");
                    mark.n()
                }
                Some((_, Stepped::Later(n))) => n,
                Some((_, Stepped::SameOwner)) => {
                    return Err(same_owner(by, "set the limit last").into());
                }
                Some((_, Stepped::TooLarge)) => return Err(PlayError::AmountTooLarge.into()),
            };
            if !wait(sql, jackpot, n, until).await {
                let error = SettlementError::NotInLedger(payout_id.to_owned());
                return Err(PlayError::from(error).into());
            }
            // A withdrawal that the ledger has leaves nothing by which a look knows it.
            if step == Step::Withdraw && has_withdrawal(sql, jackpot, payout_id, n, by).await? {
                return Ok(());
            }
        }
    }

    /// Brings the limit of a PUT that waits for an approval into force. Returns the terms in force.
    pub async fn approve_limit(&self, id: &Id, wish: &Approval<'_>) -> Result<Terms, PlayError> {
        let approved = self.try_approve_limit(id, wish).await?;
        let (version, by) = (wish.version, wish.by);
        match approved {
            Approved::InForce(now, terms) => {
                let (who, request_id, reason) = (&*by.who, &*by.request_id, wish.reason);
                info!(jackpot_id = %id, who, request_id, reason, version, now, "limit approved");
                Ok(terms)
            }
            Approved::NoVersion => Err(PlayError::DefinitionNotFound {
                id: id.clone(),
                version,
            }),
            Approved::Superseded => Err(SettlementError::Superseded(version).into()),
            Approved::SameOwner => Err(same_owner(by, "set the limit")),
        }
    }

    async fn try_approve_limit(&self, id: &Id, wish: &Approval<'_>) -> Result<Approved, PlayError> {
        let mut tries = Tries::begin(&*self.views, id).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence) = (self.views.registry.store(), known.fence(view));
            let reply = scripts::approve_limit(store, &known.keys, &fence, wish).await;
            if let Some((_, approved)) = tries.reply(reply).await? {
                return Ok(approved);
            }
        }
    }
}

fn same_owner(by: &Operator, why: &'static str) -> PlayError {
    let owner = by.owner.clone();
    SettlementError::SameOwner { owner, why }.into()
}

/// The step to take, and the payout before and after it. `None`: it is taken, or there is nothing to do.
fn decide<'a>(
    looked: &'a Looked,
    payout_id: &str,
    asked: &Asked,
    by: &Operator,
) -> Result<Option<(&'a Payout, Step, Standing)>, PlayError> {
    let payout = || payout_id.to_owned();
    let Some(before) = &looked.payout else {
        return Err(SettlementError::NotTracked(payout()).into());
    };
    let wish = asked.wish(before.first);
    if let (Some((used_by, attempt)), Wish::Report(wanted), Some(id)) = (&looked.used, &wish, asked.settlement_id()) {
        return if used_by == payout_id && attempt.is_same(wanted) {
            Ok(None)
        } else {
            Err(SettlementError::IdReused(id.clone()).into())
        };
    }
    let refusal = match before.standing.decide(&wish, &by.who, &by.owner) {
        Ok(Decision::Stays) => return Ok(None),
        Ok(Decision::Step(step, after)) => return Ok(Some((before, step, after))),
        Err(refusal) => refusal,
    };
    Err(match refusal {
        Refusal::Held => SettlementError::Held(payout()).into(),
        Refusal::Settled => SettlementError::Settled(payout()).into(),
        Refusal::VoidRequested => SettlementError::VoidRequested(payout()).into(),
        Refusal::NotVoidRequested => SettlementError::NotVoidRequested(payout()).into(),
        Refusal::Void => SettlementError::Void(payout()).into(),
        Refusal::SameOwner => same_owner(by, "approved the payout"),
    })
}

/// One statement, so that all is as of one event.
async fn look(sql: &Sql, jackpot: &Id, payout_id: &str, settlement_id: Option<&Id>) -> Result<Looked, LedgerError> {
    let text = "SELECT streams.n AS seen, p.payout_id AS payout_id, p.tier AS tier, p.amount AS amount, \
                p.first_state AS first_state, p.state AS state, \
                p.approved_by AS approved_by, p.approver AS approver, p.attempt AS attempt, \
                p.settlement_id AS settlement_id, p.attempt_text AS attempt_text, p.attempt_ms AS attempt_ms, \
                p.asked AS asked, u.payout_id AS used_by, u.attempt AS used_as, u.attempt_text AS used_text FROM streams \
                LEFT JOIN payout_states p ON p.payout_id = $1 AND p.jackpot_id = streams.id \
                LEFT JOIN settlement_ids u ON u.jackpot_id = streams.id AND u.settlement_id = $2 \
                WHERE streams.kind = 'jackpot' AND streams.id = $3";
    let row = sqlx::query(text)
        .bind(payout_id.to_owned())
        .bind(settlement_id.map_or("", Id::as_str).to_owned())
        .bind(jackpot.as_str().to_owned())
        .fetch_one(sql.reader());
    let row = sql.reading(row).await?;
    let seen: i64 = row.try_get("seen")?;
    let unreadable = |what: &str| LedgerError::Missing(format!("{what} of payout '{payout_id}'"));
    let payout = match row.try_get::<Option<String>, _>("payout_id")? {
        Some(_) => {
            let (first, tier): (String, String) = (row.try_get("first_state")?, row.try_get("tier")?);
            Some(Payout {
                standing: standing(&row)?,
                first: State::read(&first).ok_or_else(|| unreadable("the first state"))?,
                tier: Id::parse(&tier).map_err(|_| unreadable("the tier"))?,
                amount: row.try_get::<i64, _>("amount")?.unsigned_abs(),
            })
        }
        None => None,
    };
    let used = match row.try_get::<Option<String>, _>("used_by")? {
        Some(used_by) => {
            let used_as: String = row.try_get("used_as")?;
            let attempt = Attempt {
                ended: Ended::read(&used_as).ok_or_else(|| unreadable("an attempt"))?,
                settlement_id: settlement_id.map(Id::to_string).unwrap_or_default(),
                text: row.try_get("used_text")?,
                at_ms: 0,
            };
            Some((used_by, attempt))
        }
        None => None,
    };
    Ok(Looked {
        seen: seen.unsigned_abs(),
        payout,
        used,
    })
}

/// Whether this event of the ledger is this very withdrawal.
async fn has_withdrawal(sql: &Sql, jackpot: &Id, payout_id: &str, n: u64, by: &Operator) -> Result<bool, LedgerError> {
    let found = sqlx::query_scalar::<_, i64>(
        "SELECT n FROM audit WHERE subject = $1 AND n = $2 AND target = $3 AND action = $4 AND who = $5 AND request_id = $6",
    )
    .bind(JACKPOT.subject(jackpot))
    .bind(i64::try_from(n).unwrap_or(i64::MAX))
    .bind(format!("{jackpot}/{payout_id}"))
    .bind(Step::Withdraw.as_str())
    .bind(by.who.clone())
    .bind(by.request_id.clone())
    .fetch_optional(sql.reader());
    Ok(sql.reading(found).await?.is_some())
}

/// Waits until the ledger has this event; `false` when that takes too long.
pub(super) async fn wait(sql: &Sql, jackpot: &Id, n: u64, until: Instant) -> bool {
    let mut pause = PAUSE;
    loop {
        let has = sqlx::query_scalar::<_, i64>("SELECT n FROM streams WHERE kind = 'jackpot' AND id = $1")
            .bind(jackpot.as_str().to_owned())
            .fetch_optional(sql.reader());
        if let Ok(Some(has)) = sql.reading(has).await
            && has.unsigned_abs() >= n
        {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(2 * pause);
    }
}
