//! The capabilities of the service: one line each where they are constants, one where they are made. The commands use the same list.

use std::sync::Arc;

use crate::jackpot::operate::Operate;
use crate::ledger::kinds::Kinds;
use crate::ledger::projector::load::Load;
use crate::store::Store;
use crate::{coupon, jackpot, room};

/// How each kind's streams are read, where nothing but the ledger is there.
pub const LOADS: [Load; 3] = [
    Load::of::<jackpot::ledger::projector::Jackpots>(),
    Load::of::<coupon::ledger::projector::Coupons>(),
    Load::of::<room::ledger::projector::Rooms>(),
];

/// What an instance remembers of the subjects of each capability.
#[derive(Debug, Clone)]
pub struct Known {
    /// The jackpots.
    pub operate: Operate,
    /// The coupons.
    pub coupons: Arc<coupon::known::Registry>,
    /// The rooms.
    pub rooms: Arc<room::known::Registry>,
}

impl Known {
    /// Nothing is remembered yet.
    #[must_use]
    pub fn new(store: &Store, operate: Operate) -> Self {
        Self {
            operate,
            coupons: Arc::new(coupon::known::Registry::new(store.clone())),
            rooms: Arc::new(room::known::Registry::new(store.clone())),
        }
    }

    /// All kinds of subjects, in the order in which they are shown.
    #[must_use]
    pub fn kinds(&self, store: &Store) -> Kinds {
        let secret = self.operate.views.secrets.current().clone();
        Kinds::new([
            jackpot::ledger::kind(&self.operate),
            coupon::ledger::kind(&self.coupons, store),
            room::ledger::kind(&self.rooms, store, secret),
        ])
    }
}
