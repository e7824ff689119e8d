//! How the ledger is doing, for whoever asks without waiting: readiness, metrics, reconciliation.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use crate::ids::Id;

/// How far a stream is, as of the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Events that SQL does not have yet.
    pub lag: u64,
    /// Whether its next event can't be applied.
    pub stopped: bool,
}

/// What the projector of this instance last saw.
#[derive(Debug, Default)]
pub struct Progress {
    streams: RwLock<BTreeMap<Id, StreamState>>,
}

impl Progress {
    pub(super) fn set(&self, jackpot: &Id, lag: u64, stopped: bool) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(jackpot.clone(), StreamState { lag, stopped });
    }

    /// How far a stream is behind now; nothing for one that is not read here.
    pub(super) fn set_lag(&self, jackpot: &Id, lag: u64) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = streams.get_mut(jackpot) {
            state.lag = lag;
        }
    }

    /// The streams that this instance reads.
    pub(super) fn ids(&self) -> Vec<Id> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.keys().cloned().collect()
    }

    pub(super) fn forget(&self, jackpot: &Id) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.remove(jackpot);
    }

    /// The largest lag among the streams that this instance reads, and the stream; `None` when it reads none.
    pub fn largest_lag(&self) -> Option<(Id, u64)> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let largest = streams.iter().max_by_key(|(_, state)| state.lag);
        largest.map(|(id, state)| (id.clone(), state.lag))
    }

    /// Streams that can't go on.
    pub fn stopped(&self) -> Vec<Id> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let stopped = streams.iter().filter(|(_, state)| state.stopped);
        stopped.map(|(id, _)| id.clone()).collect()
    }
}
