//! Rebuilds a coupon from the ledger: `lua/subject/restore_begin.lua`, `restore_records.lua` and
//! `lua/coupon/restore_end.lua`.
//!
//! Call begin, then write the records in any order and number of calls, then call end. Each may be repeated.

use std::collections::BTreeMap;

use crate::definition::Definition;
use jackpot_api::coupon::Status;
use jackpot_core::names;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::store::{Call, Store};
use jackpot_kernel::subject::operate::text;
use jackpot_kernel::subject::restore::{self, RestoreEnded};

use super::{RESTORE_END, ScriptError};

names! {
    /// A part of the records.
    #[derive(PartialOrd, Ord)]
    pub enum Part {
        /// Records by request id.
        Requests = "requests",
        /// Issues that count, by user id.
        Users = "users",
        /// Arrival numbers of queued requests, by request id.
        Queue = "queue",
        /// Arrival numbers of dead letters, by request id.
        Dead = "dead",
    }
}

impl Part {
    /// The key of the part.
    pub fn key(self, keys: &CouponKeys) -> &str {
        match self {
            Self::Requests => &keys.requests,
            Self::Users => &keys.users,
            Self::Queue => &keys.queue,
            Self::Dead => &keys.dead,
        }
    }

    /// Whether that key is a sorted set.
    pub fn is_sorted(self) -> bool {
        matches!(self, Self::Queue | Self::Dead)
    }
}

/// The whole state of a coupon, from the ledger's events.
#[derive(Debug, Clone)]
pub struct RestoredState {
    /// Number of the ledger's last event.
    pub n: u64,
    /// Restores before this one, as far as the ledger knows. Redis may know of more.
    pub restores: u64,
    /// Its status after the restore.
    pub status: Status,
    /// What its suspension interrupts.
    pub held: Option<Status>,
    /// The new history.
    pub history: String,
    /// Version of its definition.
    pub version: u64,
    /// The definition's JSON, as Redis kept it.
    pub json: String,
    /// The same, parsed.
    pub definition: Definition,
    /// Issues so far.
    pub sequence: u64,
    /// How many of them were voided.
    pub voided: u64,
    /// How many were redeemed.
    pub redeemed: u64,
    /// Requests that have joined the queue so far.
    pub arrivals: u64,
    /// Seconds for which records are kept after the end.
    pub retention_s: u64,
    /// The last PUTs.
    pub puts: String,
    /// How many records were written to each part.
    pub written: BTreeMap<Part, u64>,
}

impl RestoredState {
    /// The names are those of `STATE` in `lua/coupon/state.lua`.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let definition = &self.definition;
        let held = self.held.map(|held| ("held", held.as_str().to_owned()));
        let redeemed = (self.redeemed > 0).then(|| ("redeemed", self.redeemed.to_string()));
        let fields = [
            ("n", self.n.to_string()),
            ("restores", self.restores.to_string()),
            ("status", self.status.as_str().to_owned()),
            ("history", self.history.clone()),
            ("version", self.version.to_string()),
            ("json", self.json.clone()),
            ("stock", definition.stock().to_string()),
            ("per_user", definition.per_user().to_string()),
            ("window", text(definition.window_ms())),
            ("starts", text(definition.starts_ms())),
            ("ends", text(definition.ends_ms())),
            ("seq", self.sequence.to_string()),
            ("voided", self.voided.to_string()),
            ("arrivals", self.arrivals.to_string()),
            ("retention", self.retention_s.to_string()),
            ("puts", self.puts.clone()),
        ];
        fields.into_iter().chain(held).chain(redeemed).collect()
    }
}

/// Writes the state and lets the other scripts run again.
pub async fn restore_end(
    store: &Store,
    keys: &CouponKeys,
    token: &str,
    state: &RestoredState,
    by: &Operator,
    reason: &str,
) -> Result<RestoreEnded, ScriptError> {
    let call = keys.all().into_iter().fold(Call::new(&RESTORE_END), Call::key);
    let written = |part: &Part| state.written.get(part).copied().unwrap_or_default();
    let wish = Part::ALL.iter().fold(restore::wish(token, by, reason), |wish, part| {
        wish.with(part.as_str(), written(part))
    });
    restore::restore_end(store, &RESTORE_END, call, wish, &state.fields()).await
}
