//! `lua/coupon/serve.lua`.

use crate::code::Code;
use crate::metadata::Asker;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;

use super::answers::{self, Answer};
use super::{Mark, Refusal, Reply, SERVE, ScriptError, call, run};

/// Most requests that one call takes, and that one serves. It bounds the call's work to a millisecond.
pub const MAX_TAKEN: usize = 256;

/// One step of the queue's consumer.
#[derive(Debug)]
pub struct Serve<'a> {
    /// Token of this consumer, for its whole life.
    pub token: &'a str,
    /// Length of the lease, in ms. 0 gives it back, with `next` 0.
    pub lease_ms: u64,
    /// One for this call and all its repeats; never used by another.
    pub take_id: &'a str,
    /// What the last call took, in its order, each with the code of its unit. At most [`MAX_TAKEN`].
    pub served: &'a [(String, Code)],
    /// How many to take, at most [`MAX_TAKEN`].
    pub next: usize,
}

#[derive(Debug)]
pub enum Served {
    /// Done.
    Done {
        mark: Mark,
        /// One for each of `served`, in order; `None`: no record. A request that is still queued was not served, and
        /// its code was not used: take it again.
        answers: Vec<Option<Answer>>,
        /// Requests for the next call to serve, the head of the queue first. Empty when the queue is empty, or when
        /// every request that would have been taken became a dead letter. Then others may be left (`waiting`).
        taken: Vec<Taken>,
        /// Requests in the queue, including the taken ones.
        waiting: u64,
    },
    /// Another consumer has the lease; nothing was done.
    Held {
        mark: Mark,
        /// Ms until the lease ends, unless it is renewed.
        free_in_ms: u64,
    },
    /// The coupon serves nobody now, and nobody was served. Taken requests stay taken, but a pause took back their tries and
    /// the lease.
    Stopped {
        mark: Mark,
        /// Why.
        refusal: Refusal,
    },
}

reply! {
    /// `ok`: a step of the queue. Each taken request follows, then the answers to the served requests.
    pub(super) struct Stepped {
        /// Requests in the queue, including the taken ones.
        waiting: u64,
        /// How many requests were taken for the next call to serve.
        taken: u64,
    }
}

reply! {
    /// A request for the next call to serve.
    pub struct Taken {
        /// Id of the request.
        pub request_id: String,
        /// Its user, and its metadata.
        pub user: Asker,
        /// How often it was taken, including this time.
        pub attempts: u32,
    }
}

reply! {
    /// `held`: another consumer has the lease. Nothing was done.
    pub(super) struct Leased {
        /// Time until the lease ends, unless it is renewed.
        free_in_ms: u64,
    }
}

/// Serves the requests that the last call took, and takes the next. `known`: the highest mark this instance has seen.
///
/// # Panics
/// When it would serve or take more than [`MAX_TAKEN`], or take some without a lease.
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
            free_in_ms: reply.read::<Leased>()?.free_in_ms,
        }),
        "ok" => done(&reply, wish.served.len()).ok_or_else(|| reply.unexpected()),
        _ => Err(reply.unexpected()),
    }
}

fn done(reply: &Reply, served: usize) -> Option<Served> {
    let mut values = reply.values();
    let Stepped { waiting, taken } = values.take()?;
    let taken = (0..taken).map(|_| values.take()).collect::<Option<_>>()?;
    Some(Served::Done {
        mark: reply.mark(),
        answers: answers::read(&mut values, served)?,
        taken,
        waiting,
    })
}
