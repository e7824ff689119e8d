//! `lua/jackpot/approve_limit.lua`.

use jackpot_core::jackpot::settlement::{Settlement, Terms};
use jackpot_core::mark::Mark;
use jackpot_core::money::Minor;
use jackpot_core::wire::OrDash;

use jackpot_kernel::operator::Operator;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::subject::Named;

use super::{APPROVE_LIMIT, Fence, ScriptError, fenced, run};

/// An approval of the limit that a PUT asked for.
#[derive(Debug)]
pub struct Approval<'a> {
    /// Version of the PUT.
    pub version: u64,
    pub reason: &'a str,
    pub by: &'a Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approved {
    /// These terms are in force, by this call (`true`) or because nothing waits.
    InForce(bool, Terms),
    /// No PUT got that version.
    NoVersion,
    /// A later PUT asked for another limit.
    Superseded,
    /// The owner who set the limit does not approve it.
    SameOwner,
}

reply! {
    /// The limit is in force: by this call (`ok`), or because nothing waits (`same`).
    pub(super) struct InForce {
        /// Whether payouts are tracked.
        settlement: Settlement,
        /// From which amount on they wait for an approval, minor units; `-` for none.
        above: OrDash<Minor>,
    }
}

/// Approves a limit.
pub async fn approve_limit(
    store: &Store,
    keys: &JackpotKeys,
    fence: &Fence,
    wish: &Approval<'_>,
) -> Result<(Mark, Approved), ScriptError> {
    let named = Named::new().with("version", wish.version).why(wish.by, wish.reason);
    let call = fenced(&APPROVE_LIMIT, &[&keys.state, &keys.events], fence).arg(named);
    let reply = run(store, &APPROVE_LIMIT, call, fence.known).await?.fenced()?;
    let terms = || {
        let InForce { settlement, above } = reply.read::<InForce>()?.values;
        Ok::<_, ScriptError>(Terms {
            settlement,
            approval_above: above.0,
        })
    };
    let approved = match reply.code() {
        "ok" => Approved::InForce(true, terms()?),
        "same" => Approved::InForce(false, terms()?),
        "no-version" => Approved::NoVersion,
        "superseded" => Approved::Superseded,
        "same-owner" => Approved::SameOwner,
        _ => return Err(reply.unexpected()),
    };
    Ok((reply.mark(), approved))
}
