//! `lua/coupon/status.lua`.

use crate::coupon::status::Status;
use crate::store::Store;
use crate::store::keys::CouponKeys;
use crate::subject::Marked;

use super::{Mark, STATUS, ScriptError, call, run};

#[derive(Debug, Clone)]
pub struct SetStatus {
    /// The wanted status: open or suspended.
    pub wanted: Status,
    pub reason: String,
    /// Name of the operator's key, or of the part of the service.
    pub who: String,
    /// Id of the HTTP request; empty for none.
    pub request_id: String,
}

/// The result, with the coupon's mark.
#[derive(Debug, PartialEq, Eq)]
pub enum StatusSet {
    /// Done, or it had that status before.
    Done(Mark),
    /// The coupon is retired.
    Ended(Mark),
}

impl Marked for StatusSet {
    fn mark(&self) -> Mark {
        let (Self::Done(mark) | Self::Ended(mark)) = self;
        *mark
    }
}

/// Suspends a coupon, or opens it again.
pub async fn set_status(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    wish: &SetStatus,
) -> Result<StatusSet, ScriptError> {
    let call = call(&STATUS, keys, known)
        .arg(wish.wanted.as_str())
        .arg(&wish.reason)
        .arg(&wish.who)
        .arg(&wish.request_id);
    let reply = run(store, &STATUS, call, known).await?;
    match reply.code() {
        "ok" | "same" => Ok(StatusSet::Done(reply.mark())),
        "ended" => Ok(StatusSet::Ended(reply.mark())),
        _ => Err(reply.unexpected()),
    }
}
