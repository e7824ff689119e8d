//! `lua/jackpot/rotate.lua`.

use jackpot_core::jackpot::document::Tier;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::mark::Mark;

use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;

use super::{Fence, ROTATE, ScriptError, run, with_pools};

/// Why an epoch ends.
#[derive(Debug, Clone)]
pub enum Rotate {
    /// An operator ends it; records stay.
    Operator { reason: String, by: Operator },
    /// The retention has passed; the older generation of records goes.
    Retention {
        /// Shortest time for which a record stays, in seconds, by this instance's setting. The jackpot uses the longest
        /// setting.
        retention_s: u64,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub enum Rotated {
    /// The next epoch is open.
    Opened(u64),
    /// The jackpot's retention was this many seconds, shorter than the caller's. The script raised it and did nothing
    /// else.
    Raised(u64),
    /// The newer generation has not reached the jackpot's retention.
    Early {
        /// Time that is missing, in ms.
        left_ms: u64,
        /// The jackpot's retention, seconds.
        retention_s: u64,
    },
    /// A closed jackpot opens no epoch for an operator.
    Closed,
    /// The older generation holds entries without an outcome.
    Pending,
    /// There is nothing to drop.
    Idle,
}

reply! {
    /// `ok`: the next epoch is open.
    pub(super) struct Opened {
        /// Its number.
        epoch: u64,
    }
}

reply! {
    /// `raised`: the jackpot's retention was shorter than the caller's. Now it is the caller's; nothing else was done.
    pub(super) struct Raised {
        /// What it was.
        retention_s: u64,
    }
}

reply! {
    /// `early`: the newer generation has not reached the jackpot's retention.
    pub(super) struct Early {
        /// Time that is missing.
        left_ms: u64,
        /// The jackpot's retention.
        retention_s: u64,
    }
}

/// Closes the epoch of the fence and opens the next. Returns the jackpot's mark with the result.
pub async fn rotate(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    next: &Opening,
    why: &Rotate,
) -> Result<(Mark, Rotated), ScriptError> {
    rotate_with(store, keys, fence, next, why, None).await
}

/// The same, and ends all open cycles if the caller brings new ones: the tiers of the definition in the fence, and
/// prepared cycles with a new nonce.
pub async fn rotate_with(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    next: &Opening,
    why: &Rotate,
    cycles: Option<(&[Tier], &str)>,
) -> Result<(Mark, Rotated), ScriptError> {
    let (tiers, prepared) = cycles.unwrap_or_default();
    let fixed = [
        keys.state.as_str(),
        &keys.definitions,
        &keys.epochs,
        &keys.seen_a,
        &keys.seen_b,
        &keys.pending,
        &keys.events,
    ];
    let named = Named::new()
        .with("commitment", &next.commitment)
        .with("epoch_nonce", &next.nonce)
        .with("secret_id", &next.secret_id)
        .with("prepared", prepared);
    let named = match why {
        Rotate::Operator { reason, by } => named.with("kind", "epoch").why(by, reason),
        Rotate::Retention { retention_s } => named
            .with("kind", "generation")
            .with("retention", retention_s)
            .with("reason", "retention")
            .with("who", "service")
            .with("request_id", ""),
    };
    let call = with_pools(&ROTATE, keys, fixed, tiers, fence).arg(named);
    let reply = run(store, &ROTATE, call, fence.known).await?.fenced()?;
    let rotated = match reply.code() {
        "ok" => Rotated::Opened(reply.read::<Opened>()?.epoch),
        "raised" => Rotated::Raised(reply.read::<Raised>()?.retention_s),
        "early" => {
            let Early { left_ms, retention_s } = reply.read()?.values;
            Rotated::Early { left_ms, retention_s }
        }
        "closed" => Rotated::Closed,
        "pending" => Rotated::Pending,
        "idle" => Rotated::Idle,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), rotated))
}
