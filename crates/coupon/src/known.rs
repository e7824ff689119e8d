//! What this instance remembers of coupons: their keys, the highest mark of each, and the ledger's progress.

use std::sync::atomic::{AtomicBool, Ordering};

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::Cmd;

use super::asking::Asking;
use super::scripts::{self, ScriptError, SetStatus, Snapshot, StatusSet};
use jackpot_api::coupon::Status;
use jackpot_kernel::combiner::Queues;
use jackpot_kernel::store::keys::{COUPON_INDEX, CouponKeys, StreamKeys};
use jackpot_kernel::store::{Script, Store};
use jackpot_kernel::subject::engine::Operated;
use jackpot_kernel::subject::kinds::COUPON;
use jackpot_kernel::subject::{self, Observed, Subject};

/// Everything remembered of one coupon.
#[derive(Debug)]
pub struct Known {
    pub keys: CouponKeys,
    /// Requests that wait for a call.
    pub(super) queues: Queues<Asking>,
    observed: Observed,
    /// Whether the warning about a shorter retention setting was logged.
    warned: AtomicBool,
}

impl Known {
    /// Whether this is the first call, so that the warning is logged once.
    pub(super) fn is_first_warning(&self) -> bool {
        !self.warned.swap(true, Ordering::Relaxed)
    }
}

impl Subject for Known {
    const INDEX: &'static str = COUPON_INDEX;

    fn new(id: &Id) -> Self {
        Self {
            keys: CouponKeys::new(id),
            queues: Queues::default(),
            observed: Observed::new(COUPON, id),
            warned: AtomicBool::default(),
        }
    }

    fn stream(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }
}

impl Operated for Known {
    type Status = Status;
    type Snapshot = Snapshot;
    type Seen = ();

    const OPEN: Status = Status::Open;
    const SUSPENDED: Status = Status::Suspended;

    async fn snapshot(&self, store: &Store) -> Result<Snapshot, ScriptError> {
        scripts::snapshot(store, &self.keys, self.mark()).await
    }

    async fn set_status(&self, store: &Store, (): &(), wish: &SetStatus) -> Result<StatusSet, ScriptError> {
        scripts::set_status(store, &self.keys, self.mark(), wish).await
    }

    fn obey_script() -> &'static Script {
        &scripts::OBEY
    }

    async fn checkpoint(&self, store: &Store, (): &()) -> Result<Mark, ScriptError> {
        scripts::checkpoint(store, &self.keys, self.mark()).await
    }

    fn compared(&self) -> Vec<Cmd> {
        let keys = &self.keys;
        let commands = [
            ("HGETALL", &keys.state),
            ("HLEN", &keys.requests),
            ("HLEN", &keys.users),
            ("ZCARD", &keys.queue),
            ("ZCARD", &keys.dead),
        ];
        commands.map(|(name, key)| redis::cmd(name).arg(key).to_owned()).into()
    }
}

impl std::ops::Deref for Known {
    type Target = Observed;

    fn deref(&self) -> &Observed {
        &self.observed
    }
}

/// The coupons that this instance has used.
pub type Registry = subject::Registry<Known>;
