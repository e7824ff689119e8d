//! `lua/coupon/redrive.lua`.

use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;

use super::answers::{self, Answer};
use super::{Mark, REDRIVE, Refusal, ScriptError, call, run};

#[derive(Debug, PartialEq, Eq)]
pub enum Redriven {
    /// It is in the queue. `fresh`: this call put it there.
    Done(Answer),
    /// It is no dead letter. This is its record.
    NotDead(Answer),
    /// There is no such request.
    Missing,
    /// The coupon is stopped.
    Stopped(Refusal),
}

/// Puts a dead letter back at its old place in the queue. Returns the coupon's mark with the result. `who`: name of the
/// operator's key. `by_request`: id of the HTTP request.
pub async fn redrive(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    request_id: &str,
    who: &str,
    by_request: &str,
) -> Result<(Mark, Redriven), ScriptError> {
    let call = call(&REDRIVE, keys, known).arg(request_id).arg(who).arg(by_request);
    let reply = run(store, &REDRIVE, call, known).await?;
    let answer = || answers::read_one(&reply);
    let redriven = match reply.code() {
        "ok" | "same" => Redriven::Done(answer()?),
        "not-dead" => Redriven::NotDead(answer()?),
        "missing" => Redriven::Missing,
        code => Redriven::Stopped(Refusal::of(code).ok_or_else(|| reply.unexpected())?),
    };
    Ok((reply.mark(), redriven))
}
