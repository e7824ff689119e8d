//! Transfers of all money of tiers to another jackpot (docs/decisions/0054).
//!
//! The call makes room in the target, gives the money out of the source, waits a short time until the ledger has that, and
//! lets the target receive it. `worker` goes on with what the ledger has in transit. Each step is a script that is safe to
//! repeat.

use jackpot_api::ledger::TransferState;
use std::time::Duration;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Violation;
use jackpot_core::jackpot::leaving::Leaving;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::Field;
use sha2::{Digest, Sha256};
use sqlx::Row;
use tokio::time::{Instant, sleep};
use tracing::info;

use super::error::PlayError;
use super::leaving::{LeavingError, in_ledger, same_owner};
use super::operate::Operate;
use super::scripts::{self, Expect, Expected, Give, Given, Holds, Incoming, Received, Released};
use jackpot_api::jackpot::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::subject::engine::Tries;

pub mod worker;

/// How often a call looks again when the source holds other parts than it read: each needs a change by an operator.
const MAX_CHANGES: usize = 8;
/// For how long a call waits until the ledger has what the source gave. The worker goes on after that.
const WAIT: Duration = Duration::from_millis(1_500);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// Bytes of a digest.
const DIGEST_LEN: usize = 16;

/// What an operator asks for.
#[derive(Debug)]
pub struct Transfer {
    pub transfer_id: Id,
    pub to: Id,
    /// The tiers that give, in the order of their ids, and the tier that each goes to.
    pub tiers: Vec<(Id, Id)>,
    pub reason: String,
    /// Whether it gives what waits for a second owner.
    pub is_approval: bool,
}

/// What became of it.
#[derive(Debug)]
pub struct Transferred {
    /// Whether this call gave the money, or asked for it.
    pub now: bool,
    pub parts: Vec<Part>,
    pub state: TransferState,
}

impl Transfer {
    /// By which the service knows a repeat. The reason counts, as for adjustments.
    fn digest(&self) -> String {
        let tiers = self.tiers.iter().map(|(tier, to_tier)| format!("{tier} {to_tier}\n"));
        digest(&format!("{}\n{}\n{}", self.to, tiers.collect::<String>(), self.reason))
    }
}

impl Transfer {
    fn leaving(&self) -> Leaving {
        Leaving::Transfer(self.transfer_id.clone())
    }

    /// Why nothing was given.
    fn refusal(&self, source: &Id, owner: &str, given: &Given) -> PlayError {
        match given {
            Given::Reused => PlayError::TransferIdReused(self.transfer_id.clone()),
            Given::Status(Status::Open) => PlayError::TransferOpen(source.clone()),
            Given::Status(status) => PlayError::Stopped(*status),
            Given::Pending => PlayError::TransferPending(source.clone()),
            Given::TooLarge => PlayError::AmountTooLarge,
            Given::NoTier => invalid("tiers", format!("names a tier that '{source}' does not have")),
            Given::Missing => LeavingError::NotFound(self.leaving()).into(),
            Given::NotHeld => LeavingError::Done(self.leaving()).into(),
            Given::SameOwner => same_owner(owner),
            Given::More => {
                let rule = "hold more than when the transfer was asked for: withdraw it, and ask for another one";
                invalid("tiers", rule.to_owned())
            }
            Given::Done { .. } | Given::Held { .. } | Given::Withdrawn(_) | Given::Holds(_) => PlayError::Unsettled,
        }
    }
}

/// The first digits of SHA-256.
fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..DIGEST_LEN])
}

fn invalid(field: &str, rule: String) -> PlayError {
    PlayError::Invalid(vec![Violation::new(field, rule)])
}

impl Operate {
    /// Moves all money of tiers of `source` to another jackpot. A repeat gives nothing again, and goes on where an earlier
    /// call ended.
    pub async fn transfer(
        &self,
        sql: &Sql,
        source: &Id,
        wish: &Transfer,
        by: &Operator,
    ) -> Result<Transferred, PlayError> {
        if wish.to == *source {
            return Err(invalid("to", "must be another jackpot".to_owned()));
        }
        let (mark, given) = self.give_expected(source, wish, by).await?;
        let (now, parts) = match given {
            Given::Done { now, parts } => (now, parts),
            Given::Held { now, parts } => {
                in_ledger(sql, source, mark.n(), wish.leaving()).await?;
                let state = TransferState::Held;
                return Ok(Transferred { now, parts, state });
            }
            Given::Withdrawn(_) if wish.is_approval => return Err(LeavingError::Withdrawn(wish.leaving()).into()),
            Given::Withdrawn(parts) => {
                let (now, state) = (false, TransferState::Withdrawn);
                return Ok(Transferred { now, parts, state });
            }
            refused => return Err(wish.refusal(source, &by.owner, &refused)),
        };
        if now {
            let (who, request_id, reason) = (&*by.who, &*by.request_id, &*wish.reason);
            let (transfer_id, to) = (&wish.transfer_id, &wish.to);
            info!(jackpot_id = %source, who, request_id, reason, %transfer_id, %to, "transfer given");
        }
        let is_done = match wait(sql, source, &wish.transfer_id).await {
            Some(InTransit::Done) => true,
            Some(InTransit::Parts(parts)) => self.receive(&wish.to, source, &wish.transfer_id, &parts).await.is_ok(),
            None => false,
        };
        let state = if is_done {
            TransferState::Done
        } else {
            TransferState::InTransit
        };
        Ok(Transferred { now, parts, state })
    }

    /// Makes room in the target for what the source holds, and gives exactly that.
    async fn give_expected(&self, source: &Id, wish: &Transfer, by: &Operator) -> Result<(Mark, Given), PlayError> {
        let mut expected: Option<Holds> = None;
        for _ in 0..MAX_CHANGES {
            let given = self.try_give(source, wish, expected.as_ref(), by).await;
            match self.stop_if_damaged(source, given).await? {
                (_, Given::Holds(holds)) => {
                    self.expect(source, wish, &holds, by).await?;
                    expected = Some(holds);
                }
                other => return Ok(other),
            }
        }
        Err(PlayError::Unsettled)
    }

    /// Gives what the target expects, or says what the source holds. A step of [`transfer`](Self::transfer).
    pub async fn give(
        &self,
        source: &Id,
        wish: &Transfer,
        expected: Option<&Holds>,
        by: &Operator,
    ) -> Result<Given, PlayError> {
        let given = self.try_give(source, wish, expected, by).await;
        Ok(self.stop_if_damaged(source, given).await?.1)
    }

    async fn try_give(
        &self,
        source: &Id,
        wish: &Transfer,
        expected: Option<&Holds>,
        by: &Operator,
    ) -> Result<(Mark, Given), PlayError> {
        let digest = wish.digest();
        let give = Give {
            transfer_id: &wish.transfer_id,
            digest: &digest,
            to: &wish.to,
            tiers: &wish.tiers,
            expected,
            is_approval: wish.is_approval,
            reason: &wish.reason,
            by,
        };
        let mut tries = Tries::begin(&*self.views, source).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::transfer_give(store, &known.keys, &fence, tiers, &give).await;
            if let Some(given) = tries.reply(reply).await? {
                return Ok(given);
            }
        }
    }

    /// Makes room in the target, or says why there is none. A step of [`transfer`](Self::transfer).
    pub async fn expect(&self, source: &Id, wish: &Transfer, holds: &Holds, by: &Operator) -> Result<(), PlayError> {
        let to = &wish.to;
        let expected = self.try_expect(source, wish, holds, by).await;
        let (_, expected) = self.stop_if_damaged(to, expected).await?;
        match expected {
            Expected::Made => Ok(()),
            Expected::Weaker => {
                let limit = holds.limit.map(Minor::get).unwrap_or_default();
                Err(LeavingError::Weaker(to.clone(), limit).into())
            }
            Expected::Closed => Err(PlayError::Stopped(Status::Closed)),
            Expected::Currency => Err(invalid("to", format!("'{to}' must have the currency of '{source}'"))),
            Expected::NoTier => Err(invalid("tiers", format!("names a tier that '{to}' does not have"))),
            Expected::TooLarge => Err(PlayError::AmountTooLarge),
        }
    }

    async fn try_expect(
        &self,
        source: &Id,
        wish: &Transfer,
        holds: &Holds,
        by: &Operator,
    ) -> Result<(Mark, Expected), PlayError> {
        let (_, of_source) = self.views.view(source).await?;
        let digest = digest(&holds.parts.text());
        let mut tries = Tries::begin(&*self.views, &wish.to).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let expect = Expect {
                source,
                transfer_id: &wish.transfer_id,
                digest: &digest,
                parts: &holds.parts,
                currency: of_source.definition.document().currency,
                limit: holds.limit,
                looks: holds.waits,
                reason: &wish.reason,
                by,
            };
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::transfer_expect(store, &known.keys, &fence, tiers, &expect).await;
            if let Some(expected) = tries.reply(reply).await? {
                return Ok(expected);
            }
        }
    }

    /// Lets the target receive what the ledger has in transit. A repeat changes nothing. Returns whether this call did it.
    pub async fn receive(&self, to: &Id, source: &Id, transfer_id: &Id, parts: &str) -> Result<bool, PlayError> {
        let incoming = Incoming {
            source,
            transfer_id,
            digest: &digest(parts),
            parts,
        };
        let received = self.try_receive(to, incoming).await;
        let (_, received) = self.stop_if_damaged(to, received).await?;
        match received {
            Received::Done(now) => {
                if now {
                    info!(jackpot_id = %to, %source, %transfer_id, "transfer received");
                }
                Ok(now)
            }
            Received::TooLarge => Err(PlayError::AmountTooLarge),
        }
    }

    async fn try_receive(&self, to: &Id, incoming: Incoming<'_>) -> Result<(Mark, Received), PlayError> {
        let mut tries = Tries::begin(&*self.views, to).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::transfer_receive(store, &known.keys, &fence, tiers, incoming).await;
            if let Some(received) = tries.reply(reply).await? {
                return Ok(received);
            }
        }
    }
}

impl Operate {
    /// Ends room in `to` that nobody uses. The caller has seen that its source gives nothing on account of it any more, if
    /// the room is old enough, which the script decides.
    pub async fn release(&self, to: &Id, source: &Id, transfer_id: &Id, digest: &str) -> Result<Released, PlayError> {
        let mut tries = Tries::begin(&*self.views, to).await?;
        loop {
            let (known, view) = (&tries.known, &tries.seen);
            let (store, fence, tiers) = (self.views.registry.store(), known.fence(view), view.definition.tiers());
            let reply = scripts::transfer_release(store, &known.keys, &fence, tiers, source, transfer_id, digest).await;
            let reply = self.stop_if_damaged(to, tries.reply(reply).await).await?;
            if let Some((_, released)) = reply {
                if released == Released::Now {
                    info!(jackpot_id = %to, %source, %transfer_id, "room of a transfer released");
                }
                return Ok(released);
            }
        }
    }
}

/// What the ledger has of a transfer that was given.
enum InTransit {
    Done,
    /// Its parts as text.
    Parts(String),
}

/// Waits until the ledger has what the source gave; `None` when it took too long or the database is away.
async fn wait(sql: &Sql, source: &Id, transfer_id: &Id) -> Option<InTransit> {
    let until = Instant::now() + WAIT;
    loop {
        let row = sqlx::query("SELECT parts, done_ms FROM transfers WHERE jackpot_id = $1 AND transfer_id = $2")
            .bind(source.as_str())
            .bind(transfer_id.as_str())
            .fetch_optional(sql.reader());
        if let Ok(Some(row)) = sql.reading(row).await {
            let done_ms: i64 = row.try_get("done_ms").ok()?;
            let parts: String = row.try_get("parts").ok()?;
            return Some(if done_ms > 0 {
                InTransit::Done
            } else {
                InTransit::Parts(parts)
            });
        }
        if Instant::now() >= until {
            return None;
        }
        sleep(PAUSE).await;
    }
}
