//! Log lines and metrics of the service.

mod connections;
mod coupons;
mod ledger;
mod log;
mod metrics;
pub mod request;
mod rooms;

pub use connections::ConnectionMetrics;
pub use coupons::{CouponMetrics, IssueResult, OneCoupon};
pub use ledger::LedgerMetrics;
pub use log::{TelemetryError, init};
pub use metrics::{ClaimResult, EntryResult, GaugeGuard, JackpotMetrics, Limit, Metrics, ScriptResult};
pub use rooms::{JoinResult, OneRoom, RoomMetrics, RoomNews};
