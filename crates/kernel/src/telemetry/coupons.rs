//! Metrics of coupons.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::declared::{Named, OfEach, REQUESTS, metrics};

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

metrics! {
    /// Counters and gauges of all coupons.
    pub struct CouponMetrics {
        issues: Family<IssueLabels, Counter> = "coupon_requests", "Requests for coupons by result";
        redemptions: Family<IssueLabels, Counter> = "coupon_redemptions", "Requests to redeem a unit by result";
        line: Family<Named, Gauge> = "coupon_line", "Requests in the queue of a coupon";
        dead: Family<Named, Gauge> = "coupon_dead_letters", "Dead letters of a coupon";
        combined: Histogram = "combined_coupon_requests",
            "Requests for coupons that went out in one script call", Histogram::new(REQUESTS);
    }
    beside {
        coupons: OfEach<OneCoupon>,
    }
}

impl CouponMetrics {
    /// Records how many requests went out in one script call.
    pub fn combined(&self, requests: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand, for a graph")]
        self.combined.observe(requests as f64);
    }

    /// The counters of a coupon. Call it for coupons that exist: a name that a client invented must not become a label.
    pub fn coupon(&self, id: &str) -> Arc<OneCoupon> {
        self.coupons.get(id, |label| self.make(label))
    }

    fn make(&self, id: &str) -> OneCoupon {
        let label = [("coupon", id.to_owned())];
        let of = |counters: &Family<IssueLabels, Counter>, result| {
            let coupon = id.to_owned();
            counters.get_or_create_owned(&IssueLabels { coupon, result })
        };
        OneCoupon {
            redemptions: RedeemResult::ALL.map(|result| of(&self.redemptions, result.as_str())),
            issues: IssueResult::ALL.map(|result| of(&self.issues, result.as_str())),
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
