//! `lua/coupon/define.lua`, `status.lua` and `checkpoint.lua`.

use crate::definition::Definition;
use jackpot_api::coupon::Status;
use jackpot_kernel::reply;
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::subject::operate::{self, text};

use super::{CHECKPOINT, DEFINE, Mark, STATUS, ScriptError, call};

pub type Define<'a> = operate::Define<'a, Definition>;
pub type Defined = operate::Defined<DefineRefusal>;
pub type SetStatus = operate::SetStatus<Status>;
pub type StatusSet = operate::StatusSet<Status>;

/// Why a coupon refuses a PUT.
#[derive(Debug, PartialEq, Eq)]
pub enum DefineRefusal {
    /// The coupon is retired.
    Ended,
    /// The stock would be below the number of outstanding units.
    Below {
        /// Issued and not voided.
        out: u64,
    },
}

reply! {
    /// `below`: the stock is below the number of outstanding units.
    pub(super) struct Below {
        /// Issued and not voided.
        out: u64,
    }
}

/// Puts a definition. `known`: the highest mark this instance has seen. `retention_s`: retention after the end, of a
/// coupon that this call creates.
pub async fn define(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    put: &Define<'_>,
    retention_s: u64,
) -> Result<(Mark, Defined), ScriptError> {
    let definition = put.definition;
    let wish = put
        .named(&definition.to_json())
        .with("stock", definition.stock())
        .with("per_user", definition.per_user())
        .with("window", text(definition.window_ms()))
        .with("starts", text(definition.starts_ms()))
        .with("ends", text(definition.ends_ms()))
        .with("retention", retention_s);
    let call = call(&DEFINE, keys, known).arg(wish);
    operate::define(store, &DEFINE, call, known, |reply| match reply.code() {
        "ended" => Ok(DefineRefusal::Ended),
        "below" => Ok(DefineRefusal::Below {
            out: reply.read::<Below>()?.out,
        }),
        _ => Err(reply.unexpected()),
    })
    .await
}

/// Pauses, resumes, closes or suspends a coupon, or ends its suspension.
pub async fn set_status(
    store: &Store,
    keys: &CouponKeys,
    known: Mark,
    wish: &SetStatus,
) -> Result<StatusSet, ScriptError> {
    let call = call(&STATUS, keys, known).arg(wish.named(wish.wanted.as_str()));
    operate::set_status(store, &STATUS, call, known, Status::parse).await
}

/// Appends an event with what Redis holds. Returns the coupon's mark.
pub async fn checkpoint(store: &Store, keys: &CouponKeys, known: Mark) -> Result<Mark, ScriptError> {
    operate::checkpoint(store, &CHECKPOINT, call(&CHECKPOINT, keys, known), known).await
}
