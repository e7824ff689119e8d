//! Log lines, metrics and traces of the service.

mod connections;
mod coupons;
mod declared;
mod exposition;
mod intake;
mod ledger;
mod log;
mod metrics;
mod pools;
mod process;
pub mod request;
mod rooms;
mod settlement;
mod subscriptions;
pub mod trace;

pub use connections::ConnectionMetrics;
pub use coupons::{CouponMetrics, IssueResult, OneCoupon, RedeemResult};
pub use intake::{IntakeMetrics, MessageResult};
pub use ledger::LedgerMetrics;
pub use log::{TelemetryError, init};
pub use metrics::{ClaimResult, EntryResult, GaugeGuard, JackpotMetrics, Limit, Metrics, ScriptResult};
pub use pools::{PoolMetrics, TierShown};
pub use rooms::{JoinResult, OneRoom, RoomMetrics, RoomNews};
pub use settlement::{SettlementMetrics, Unsettled, UnsettledLabels};
pub use subscriptions::SubscriptionMetrics;
