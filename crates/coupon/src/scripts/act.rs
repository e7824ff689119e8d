//! `lua/coupon/void.lua` and `lua/coupon/redrive.lua`: what an operator does to one request.

use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::store::{Script, Store};

use super::answers::{self, Answer};
use super::{Mark, REDRIVE, Refusal, ScriptError, VOID, call, run};

#[derive(Debug, PartialEq, Eq)]
pub enum Acted {
    /// It is done. `fresh`: this call did it.
    Done(Answer),
    /// The user has used the unit that was to be voided.
    Redeemed,
    /// The request has no issued unit, or is no dead letter. This is its record.
    Unfit(Answer),
    /// There is no such request.
    Missing,
    /// The coupon is stopped.
    Stopped(Refusal),
}

/// Voids an issued unit. Returns the coupon's mark with the result. `who`: name of the operator's key. `by_request`: id
/// of the HTTP request.
pub async fn void(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    request_id: &str,
    who: &str,
    by_request: &str,
) -> Result<(Mark, Acted), ScriptError> {
    act(store, &VOID, keys, known, [request_id, who, by_request]).await
}

/// Puts a dead letter back at its old place in the queue. Parameters and result are those of [`void`].
pub async fn redrive(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    request_id: &str,
    who: &str,
    by_request: &str,
) -> Result<(Mark, Acted), ScriptError> {
    act(store, &REDRIVE, keys, known, [request_id, who, by_request]).await
}

async fn act(
    store: &Store,
    script: &'static Script,
    keys: &CouponKeys,
    known: Mark,
    [request_id, who, by_request]: [&str; 3],
) -> Result<(Mark, Acted), ScriptError> {
    let call = call(script, keys, known).arg(request_id).arg(who).arg(by_request);
    let reply = run(store, script, call, known).await?;
    let answer = || answers::read_one(&reply);
    let acted = match reply.code() {
        "ok" | "same" => Acted::Done(answer()?),
        "redeemed" => Acted::Redeemed,
        "not-issued" | "not-dead" => Acted::Unfit(answer()?),
        "missing" => Acted::Missing,
        code => Acted::Stopped(Refusal::of(code).ok_or_else(|| reply.unexpected())?),
    };
    Ok((reply.mark(), acted))
}
