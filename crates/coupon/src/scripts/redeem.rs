//! `lua/coupon/redeem.lua`.

use jackpot_core::ids::Id;
use jackpot_core::wire::Field;

use crate::record::Record;
use crate::redemption::Reference;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::subject::Named;

use super::answers::{self, Answer};
use super::{Mark, REDEEM, Refusal, ScriptError, call, run};

/// A redemption that a caller asks for.
#[derive(Debug, Clone)]
pub struct Redeem {
    /// The request that got the unit.
    pub request_id: String,
    /// The caller's id of the redemption.
    pub redemption: Id,
    pub reference: Reference,
    /// Name of the caller's key.
    pub who: String,
    /// Id of the HTTP request.
    pub by_request: String,
}

/// The request in the ledger, which has all events up to this number.
#[derive(Debug, Clone)]
pub struct FromLedger {
    pub n: u64,
    pub record: Record,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// It is redeemed by this redemption. `fresh`: this call did it.
    Done(Answer),
    /// This redemption id redeemed it with another reference.
    Reused,
    /// Another redemption redeemed it.
    Before,
    /// The request has no unit that can be used. This is its record.
    NotIssued(Answer),
    /// There is no such request.
    Missing,
    /// The coupon was retired, and the ledger that was read lacks events.
    LedgerBehind,
    /// The coupon is stopped; [`Refusal::Ended`]: read the request in the ledger.
    Stopped(Refusal),
}

/// Redeems an issued unit. Returns the coupon's mark with the result. `kept`: of a retired coupon, what the ledger has.
pub async fn redeem(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    wish: &Redeem,
    kept: Option<&FromLedger>,
) -> Result<(Mark, Redeemed), ScriptError> {
    let (n, record) = kept.map_or_else(Default::default, |kept| (kept.n.to_string(), kept.record.to_string()));
    let named = Named::new()
        .with("redemption", &wish.redemption)
        .with("reference", wish.reference.text())
        .with("who", &wish.who)
        .with("request_id", &wish.by_request)
        .with("ledger_n", n)
        .with("record", record);
    let call = call(&REDEEM, keys, known).arg(&wish.request_id).arg(named);
    let reply = run(store, &REDEEM, call, known).await?;
    let answer = || answers::read_one(&reply);
    let redeemed = match reply.code() {
        "ok" | "same" => Redeemed::Done(answer()?),
        "reused" => Redeemed::Reused,
        "redeemed" => Redeemed::Before,
        "not-issued" => Redeemed::NotIssued(answer()?),
        "missing" => Redeemed::Missing,
        "ledger" => Redeemed::LedgerBehind,
        code => Redeemed::Stopped(Refusal::of(code).ok_or_else(|| reply.unexpected())?),
    };
    Ok((reply.mark(), redeemed))
}
