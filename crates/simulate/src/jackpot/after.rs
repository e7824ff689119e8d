//! What the service shows of the jackpot after the run: its meters, the gauge of pending entries, the ledger's receipts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::evidence::{Expected, Meter, Pending, Receipt, Receipts};
use super::plan::Plan;
use crate::SimulateError;
use crate::client::{Api, chain};

/// Entries without an outcome are finished within this after the last answer.
const PENDING_LIMIT: Duration = Duration::from_secs(10);
const PENDING_POLL: Duration = Duration::from_millis(50);
const PENDING_GAUGE: &str = "jackpot_pending";

/// Limit for the ledger to have all of a run.
const LEDGER_LIMIT: Duration = Duration::from_mins(1);
/// Between two looks.
const LEDGER_POLL: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Item {
    payout_id: String,
    entry_id: String,
    tier: String,
    amount: i64,
    claim_order: u64,
}

/// Waits until the ledger has as many receipts as there were wins, then reads them all.
pub async fn receipts(api: &Api, jackpot_id: &str, wins: usize) -> Receipts {
    let started = Instant::now();
    loop {
        let query = [("jackpot_id", jackpot_id)];
        let receipts: BTreeMap<String, Receipt> = match api.pages("/v1/payouts", &query).await {
            Ok(items) => items.into_iter().map(receipt).collect(),
            Err(why) => return Receipts::Unknown(why),
        };
        if receipts.len() >= wins || started.elapsed() > LEDGER_LIMIT {
            return Receipts::Read(receipts);
        }
        tokio::time::sleep(LEDGER_POLL).await;
    }
}

fn receipt(item: Item) -> (String, Receipt) {
    let receipt = Receipt {
        entry_id: item.entry_id,
        tier: item.tier,
        amount: item.amount,
        claim_order: item.claim_order,
    };
    (item.payout_id, receipt)
}

/// What the rules promise on average.
pub async fn expected(api: &Api, plan: &Plan) -> Result<Expected, SimulateError> {
    let path = format!("/v1/jackpots/{}/rules", plan.jackpot_id);
    let rules = api.get(&path).await?;
    Expected::deserialize(&rules["expected_return_ppm"]).map_err(|error| SimulateError::Unreadable {
        call: path,
        detail: format!("no expected return in {rules}: {error}"),
    })
}

/// The meters of each tier of the plan.
pub async fn meters(api: &Api, plan: &Plan) -> Result<Vec<Meter>, SimulateError> {
    let path = format!("/v1/jackpots/{}", plan.jackpot_id);
    let shown = api.get(&path).await?;
    plan.tiers
        .iter()
        .map(|tier| {
            let items = shown["meters"].as_array().map_or(&[] as &[Value], Vec::as_slice);
            read_meter(items.iter().find(|meter| meter["tier"] == tier.name)).ok_or_else(|| SimulateError::Unreadable {
                call: path.clone(),
                detail: format!("no full meter of {} in {}", tier.name, shown["meters"]),
            })
        })
        .collect()
}

fn read_meter(shown: Option<&Value>) -> Option<Meter> {
    let shown = shown?;
    let whole = |name: &str| shown[name].as_i64();
    Some(Meter {
        pool: whole("pool")?,
        reserve: whole("reserve")?,
        overflow: whole("overflow")?,
        remainder_micro: whole("remainder_micro")?,
        contributed: whole("contributed")?,
        funded: whole("funded")?,
        paid: whole("paid")?,
        wins: shown["wins"].as_u64()?,
    })
}

/// Waits until the gauge says that no entry is left without an outcome.
pub async fn pending(api: &Api, jackpot_id: &str) -> Pending {
    let started = Instant::now();
    let url = api.url("/metrics");
    loop {
        let left = match api.send_once(Method::GET, &url, None).await {
            Ok(answer) if answer.status.is_success() => gauge(&String::from_utf8_lossy(&answer.body), jackpot_id),
            Ok(answer) => return Pending::Unknown(format!("/metrics answers {}", answer.status)),
            Err(error) => {
                return Pending::Unknown(format!("/metrics: {}", chain(&error)));
            }
        };
        match left {
            None => return Pending::Unknown(format!("/metrics has no gauge {PENDING_GAUGE}")),
            Some(0) => {
                return Pending::None {
                    after_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                };
            }
            Some(left) if started.elapsed() > PENDING_LIMIT => return Pending::Left(left),
            Some(_) => tokio::time::sleep(PENDING_POLL).await,
        }
    }
}

/// Sum of the gauge's series, of this jackpot's where they name jackpots.
fn gauge(text: &str, jackpot_id: &str) -> Option<u64> {
    let mut sum = None;
    for line in text.lines().filter_map(|line| line.strip_prefix(PENDING_GAUGE)) {
        let (labels, value) = match line.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None if line.starts_with(' ') => ("", line),
            None => continue,
        };
        if labels.contains("jackpot=") && !labels.contains(&format!("jackpot=\"{jackpot_id}\"")) {
            continue;
        }
        sum = Some(sum.unwrap_or(0) + value.split_whitespace().next()?.parse::<u64>().ok()?);
    }
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{gauge, read_meter};

    #[test]
    fn the_gauge_is_read_with_and_without_labels() {
        assert_eq!(
            gauge(
                "# TYPE jackpot_pending gauge\njackpot_pending 3\njackpot_pending_age_seconds 9\n",
                "sim-1"
            ),
            Some(3)
        );
        let labelled = "jackpot_pending{jackpot=\"sim-1\"} 2\njackpot_pending{jackpot=\"other\"} 5\n";
        assert_eq!(gauge(labelled, "sim-1"), Some(2));
        assert_eq!(gauge("jackpot_entries_total 3\n", "sim-1"), None);
    }

    #[test]
    fn a_meter_needs_all_its_terms() {
        let mut shown = json!({"tier":"grand","pool":1,"reserve":2,"overflow":3,"remainder_micro":4,"contributed":5,"funded":6,"paid":7,"wins":8});
        assert_eq!(read_meter(Some(&shown)).unwrap().remainder_micro, 4);
        shown.as_object_mut().unwrap().remove("overflow");
        assert!(read_meter(Some(&shown)).is_none());
    }
}
