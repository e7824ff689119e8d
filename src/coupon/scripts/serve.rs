//! `lua/coupon/serve.lua`.

use crate::coupon::code::Code;
use crate::ids::Id;
use crate::store::Store;
use crate::store::keys::CouponKeys;

use super::answers::{self, Answer};
use super::{Mark, Refusal, Reply, SERVE, ScriptError, call, run};

/// Most requests that one call takes, and that one serves: its work stays below a millisecond.
pub const MAX_TAKEN: usize = 256;

/// One step of the line's consumer.
#[derive(Debug)]
pub struct Serve<'a> {
    /// Of this consumer, one for its whole life.
    pub token: &'a str,
    /// For how long nobody else is to serve the line; 0 gives the lease back, with `next` 0.
    pub lease_ms: u64,
    /// One for this call and all its repeats; never used by another.
    pub take_id: &'a str,
    /// What the last call took, in its order, each with the code of its unit; at most [`MAX_TAKEN`].
    pub served: &'a [(String, Code)],
    /// How many to take, at most [`MAX_TAKEN`].
    pub next: usize,
}

/// What became of it.
#[derive(Debug)]
pub enum Served {
    /// Done.
    Done {
        /// The coupon's mark.
        mark: Mark,
        /// One for each of `served`, in order; `None`: nothing is known of it. One that is still queued was not served,
        /// and its code is not to be used: take it again.
        answers: Vec<Option<Answer>>,
        /// To be served by the next call, the head of the line first. None when the line is empty, or when all that
        /// would have been taken became dead letters: then there may be others behind them (`waiting`).
        taken: Vec<Taken>,
        /// Requests in the line, with those taken.
        waiting: u64,
    },
    /// Another consumer has the lease; nothing was done.
    Held {
        /// The coupon's mark.
        mark: Mark,
        /// For so long, unless it is renewed.
        free_in_ms: u64,
    },
    /// The coupon serves nobody; nothing was done, and what was taken is still taken.
    Stopped {
        /// The coupon's mark.
        mark: Mark,
        /// Why.
        refusal: Refusal,
    },
}

/// A request that is to be served by the next call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its id.
    pub request_id: String,
    /// Who asked.
    pub user: Id,
    /// How often it was taken, with this time.
    pub attempts: u32,
}

/// Serves those that the last call took, and takes the next. `known`: the highest mark this instance has seen.
///
/// # Panics
/// When it is asked for more than [`MAX_TAKEN`], or to take some without a lease.
pub async fn serve(store: &Store, keys: &CouponKeys, known: Mark, wish: &Serve<'_>) -> Result<Served, ScriptError> {
    assert!(
        wish.served.len() <= MAX_TAKEN && wish.next <= MAX_TAKEN,
        "at most {MAX_TAKEN} a call"
    );
    assert!(wish.lease_ms > 0 || wish.next == 0, "nothing is taken without a lease");
    let call = call(&SERVE, keys, known)
        .arg(wish.token)
        .arg(wish.lease_ms)
        .arg(wish.take_id)
        .arg(wish.next)
        .arg(wish.served.len());
    let call = wish
        .served
        .iter()
        .fold(call, |call, (request_id, _)| call.arg(request_id));
    let call = wish
        .served
        .iter()
        .fold(call, |call, (_, code)| call.arg(code.to_string()));
    let reply = run(store, &SERVE, call, known).await?;
    let mark = reply.mark();
    if let Some(refusal) = Refusal::of(reply.code()) {
        return Ok(Served::Stopped { mark, refusal });
    }
    match reply.code() {
        "held" => Ok(Served::Held {
            mark,
            free_in_ms: reply.number(0)?,
        }),
        "ok" => done(&reply, wish.served.len()).ok_or_else(|| reply.unexpected()),
        _ => Err(reply.unexpected()),
    }
}

/// `waiting, taken, (request, user, attempts) of each, answers`.
fn done(reply: &Reply, served: usize) -> Option<Served> {
    let mut texts = reply.strs();
    let waiting = texts.next()??.parse().ok()?;
    let count = texts.next()??.parse::<usize>().ok()?;
    let taken = (0..count)
        .map(|_| {
            Some(Taken {
                request_id: texts.next()??.to_owned(),
                user: Id::parse(texts.next()??).ok()?,
                attempts: texts.next()??.parse().ok()?,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Served::Done {
        mark: reply.mark(),
        answers: answers::parse(texts, served)?,
        taken,
        waiting,
    })
}
