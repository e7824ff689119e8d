//! `lua/coupon/void.lua`.

use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;

use super::answers::{self, Answer};
use super::{Mark, Refusal, ScriptError, VOID, call, run};

#[derive(Debug, PartialEq, Eq)]
pub enum Voided {
    /// It is voided. `fresh`: this call did it.
    Done(Answer),
    /// Its user has used it.
    Redeemed,
    /// The request has no issued unit. This is its record.
    NotIssued(Answer),
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
) -> Result<(Mark, Voided), ScriptError> {
    let call = call(&VOID, keys, known).arg(request_id).arg(who).arg(by_request);
    let reply = run(store, &VOID, call, known).await?;
    let answer = || answers::read_one(&reply);
    let voided = match reply.code() {
        "ok" | "same" => Voided::Done(answer()?),
        "redeemed" => Voided::Redeemed,
        "not-issued" => Voided::NotIssued(answer()?),
        "missing" => Voided::Missing,
        code => Voided::Stopped(Refusal::of(code).ok_or_else(|| reply.unexpected())?),
    };
    Ok((reply.mark(), voided))
}
