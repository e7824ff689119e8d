//! What waits for a person, in one place: payouts, limits, subscriptions and dead letters. Readiness and comparisons have
//! their own answers.

use super::{Desk, links};
use jackpot_api::coupon::Coupon;
use jackpot_api::jackpot::Jackpot;
use jackpot_api::payout::ListedPayout;
use jackpot_api::subscription::{SubscriptionBody, SubscriptionList, SubscriptionState};
use jackpot_core::jackpot::settlement::PayoutState;
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::http::problem::ProblemBody;

/// Most rows of a kind that are counted.
const MOST: &str = "1000";

/// A running subscription that is so many events late waits for a person, too: a delivery takes a hundred at a time.
const LATE_EVENTS: u64 = 100;

/// The states of payouts that wait for a person.
pub const STATES: [PayoutState; 3] = [PayoutState::Held, PayoutState::VoidRequested, PayoutState::Failed];

#[derive(Debug, Default)]
pub struct Waiting {
    /// Payouts in each of [`STATES`].
    pub payouts: [Counted; 3],
    /// Jackpots whose limit waits for an approval.
    pub limits: Vec<String>,
    /// Subscriptions that are late or disabled.
    pub subscriptions: Vec<Late>,
    /// Coupons with dead letters, and how many.
    pub dead_letters: Vec<(String, u64)>,
}

/// A number of rows, or that there are more.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    pub rows: usize,
    pub has_more: bool,
}

/// A subscription that is late or disabled.
#[derive(Debug)]
pub struct Late {
    pub id: String,
    pub state: SubscriptionState,
    pub events: u64,
}

impl Waiting {
    /// How many notices it makes.
    pub fn count(&self) -> usize {
        let payouts = self.payouts.iter().filter(|counted| counted.rows > 0).count();
        payouts + self.limits.len() + self.subscriptions.len() + self.dead_letters.len()
    }
}

/// Asks the API for all of it. A bound key sees no subscriptions.
/// Errors: one of the lists can't be read: then nobody knows whether something waits.
pub async fn read(desk: &Desk) -> Result<Waiting, ProblemBody> {
    let mut all = Waiting::default();
    for (state, counted) in STATES.into_iter().zip(&mut all.payouts) {
        let path = links::with_query("/v1/payouts", &[("state", state.as_str()), ("limit", MOST)]);
        let list: PageBody<ListedPayout> = desk.ask(&path).await?;
        *counted = Counted {
            rows: list.items.len(),
            has_more: list.next_cursor.is_some(),
        };
    }
    let list: PageBody<Jackpot> = desk.ask(&links::with_query("/v1/jackpots", &[("limit", MOST)])).await?;
    // A limit that does not wait for an approval is in force at once.
    let waits = |jackpot: &Jackpot| {
        let in_force = (jackpot.settlement, jackpot.approval_above);
        let asked = jackpot.pending.as_ref().map(|pending| &pending.document);
        asked.is_some_and(|asked| (asked.settlement, asked.approval_above) != in_force)
    };
    all.limits = list
        .items
        .into_iter()
        .filter(waits)
        .map(|jackpot| jackpot.id.to_string())
        .collect();
    let list: PageBody<Coupon> = desk.ask(&links::with_query("/v1/coupons", &[("limit", MOST)])).await?;
    let dead = list.items.into_iter().filter(|coupon| coupon.dead > 0);
    all.dead_letters = dead.map(|coupon| (coupon.id.to_string(), coupon.dead)).collect();
    if !desk.is_bound() {
        let list: SubscriptionList = desk.ask("/v1/subscriptions").await?;
        all.subscriptions = list.items.iter().filter_map(late).collect();
    }
    Ok(all)
}

fn late(one: &SubscriptionBody) -> Option<Late> {
    let events = one.streams.iter().map(|stream| stream.lag).sum();
    let is_late = match one.state {
        SubscriptionState::Disabled | SubscriptionState::Retrying => true,
        SubscriptionState::Running => one.alarm || events >= LATE_EVENTS,
        SubscriptionState::Paused => false,
    };
    is_late.then_some(Late {
        id: one.id.to_string(),
        state: one.state,
        events,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_subscription_waits_for_a_person_if_it_fails_or_a_hundred_events_are_late() {
        let late = |state: &str, alarm: bool, lags: [u64; 2]| {
            let stream = |lag: u64| json!({"subject": "jackpot:a", "delivered_n": 0, "lag": lag, "last_error": null, "next_try_at": null});
            let shown = json!({"id": "a", "target": {"webhook": {"url": "https://hooks.example"}}, "types": ["*"],
                "subjects": ["*"], "from": "now", "state": state, "alarm": alarm, "verification_key": null,
                "streams": lags.map(stream)});
            late(&serde_json::from_value(shown).expect("a subscription")).map(|late| late.events)
        };
        assert_eq!(late("running", false, [60, 39]), None);
        assert_eq!(late("running", false, [60, 40]), Some(100));
        assert_eq!(late("running", true, [1, 0]), Some(1));
        assert_eq!(late("retrying", false, [1, 0]), Some(1));
        assert_eq!(late("disabled", false, [0, 0]), Some(0));
        assert_eq!(late("paused", true, [60, 40]), None);
    }
}
