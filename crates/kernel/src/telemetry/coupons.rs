//! Metrics of coupons.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::metrics::{REQUESTS, capped};

jackpot_core::names! {
    /// The result of a request for a coupon.
    pub enum IssueResult {
        /// A unit was issued.
        Issued = "issued",
        /// The user had reached the limit.
        AlreadyIssued = "already-issued",
        /// The coupon was out of stock.
        OutOfStock = "out-of-stock",
        /// Before the start or after the end.
        NotOpen = "not-open",
        /// It joined the queue; the decision there counts again.
        Queued = "queued",
        /// A repeated answer.
        Replayed = "replayed",
        /// Refused: unknown, suspended, a used id, or the store does not answer.
        Refused = "refused",
    }
}

jackpot_core::names! {
    /// The result of a request to redeem a unit.
    pub enum RedeemResult {
        /// A unit was redeemed.
        Redeemed = "redeemed",
        /// A repeated answer.
        Replayed = "replayed",
        /// Refused: redeemed before, voided, never issued, or the store does not answer.
        Refused = "refused",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CouponLabel {
    coupon: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct IssueLabels {
    coupon: String,
    result: &'static str,
}

/// The counters of one coupon, looked up once and then without a lock.
pub struct OneCoupon {
    issues: [Counter; IssueResult::ALL.len()],
    redemptions: [Counter; RedeemResult::ALL.len()],
    line: Gauge,
    dead: Gauge,
}

impl OneCoupon {
    /// Counts requests with this result.
    pub fn issues(&self, result: IssueResult, count: u64) {
        self.issues[result as usize].inc_by(count);
    }

    /// Counts a redemption with this result.
    pub fn redemption(&self, result: RedeemResult) {
        self.redemptions[result as usize].inc();
    }

    /// Sets the queued requests and dead letters that this instance last saw.
    pub fn line(&self, waiting: u64, dead: u64) {
        self.line.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        self.dead.set(i64::try_from(dead).unwrap_or(i64::MAX));
    }
}

/// Counters and gauges of all coupons.
pub struct CouponMetrics {
    coupons: RwLock<HashMap<String, Arc<OneCoupon>>>,
    issues: Family<IssueLabels, Counter>,
    redemptions: Family<IssueLabels, Counter>,
    line: Family<CouponLabel, Gauge>,
    dead: Family<CouponLabel, Gauge>,
    combined: Histogram,
}

impl Default for CouponMetrics {
    fn default() -> Self {
        Self {
            coupons: RwLock::default(),
            issues: Family::default(),
            redemptions: Family::default(),
            line: Family::default(),
            dead: Family::default(),
            combined: Histogram::new(REQUESTS),
        }
    }
}

impl CouponMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("coupon_requests", "Requests for coupons by result", self.issues.clone());
        registry.register(
            "coupon_redemptions",
            "Requests to redeem a unit by result",
            self.redemptions.clone(),
        );
        registry.register("coupon_line", "Requests in the queue of a coupon", self.line.clone());
        registry.register("coupon_dead_letters", "Dead letters of a coupon", self.dead.clone());
        registry.register(
            "combined_coupon_requests",
            "Requests for coupons that went out in one script call",
            self.combined.clone(),
        );
    }

    /// Records how many requests went out in one script call.
    pub fn combined(&self, requests: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand, for a graph")]
        self.combined.observe(requests as f64);
    }

    /// The counters of a coupon. Call it for coupons that exist: a name that a client invented must not become a label.
    pub fn coupon(&self, id: &str) -> Arc<OneCoupon> {
        let known = self.coupons.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(id) {
            return Arc::clone(known);
        }
        drop(known);
        let mut coupons = self.coupons.write().unwrap_or_else(PoisonError::into_inner);
        let label = capped(id, &coupons);
        let made = coupons
            .entry(label.to_owned())
            .or_insert_with(|| Arc::new(self.make(label)));
        Arc::clone(made)
    }

    fn make(&self, id: &str) -> OneCoupon {
        let label = CouponLabel { coupon: id.to_owned() };
        let issues = |result: IssueResult| {
            self.issues.get_or_create_owned(&IssueLabels {
                coupon: id.to_owned(),
                result: result.as_str(),
            })
        };
        let redemptions = |result: RedeemResult| {
            self.redemptions.get_or_create_owned(&IssueLabels {
                coupon: id.to_owned(),
                result: result.as_str(),
            })
        };
        OneCoupon {
            redemptions: RedeemResult::ALL.map(redemptions),
            issues: IssueResult::ALL.map(issues),
            line: self.line.get_or_create_owned(&label),
            dead: self.dead.get_or_create_owned(&label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_its_own_counter() {
        for (at, result) in IssueResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, at, "{}", result.as_str());
        }
        for (at, result) in RedeemResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, at, "{}", result.as_str());
        }
    }
}
