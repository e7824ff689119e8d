//! What the service shows of the jackpot after the run: its meters, the gauge of pending entries, the ledger's receipts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde::Deserialize;

use super::evidence::{Expected, Meter, Pending, Receipt, Receipts};
use crate::client::{Api, chain};
use crate::{SimulateError, look};

/// Entries without an outcome are finished within this after the last answer.
const PENDING_LIMIT: Duration = Duration::from_secs(10);
const PENDING_POLL: Duration = Duration::from_millis(50);
const PENDING_GAUGE: &str = "jackpot_pending";

/// Waits until the ledger has as many receipts as there were wins, then reads them all.
pub async fn receipts(api: &Api, jackpot_id: &str, wins: usize) -> Receipts {
    #[derive(Deserialize)]
    struct Item {
        payout_id: String,
        #[serde(flatten)]
        receipt: Receipt,
    }
    let once = async || {
        let items = api.pages("/v1/payouts", &[("jackpot_id", jackpot_id)]).await?;
        let receipt = |item: Item| (item.payout_id, item.receipt);
        Ok(items.into_iter().map(receipt).collect::<BTreeMap<_, _>>())
    };
    look::until(once, |receipts| receipts.len() >= wins).await
}

/// What the rules promise on average.
pub async fn expected(api: &Api, jackpot_id: &str) -> Result<Expected, SimulateError> {
    #[derive(Deserialize)]
    struct Rules {
        expected_return_ppm: Expected,
    }
    let rules: Rules = api.get(&format!("/v1/jackpots/{jackpot_id}/rules")).await?;
    Ok(rules.expected_return_ppm)
}

/// The meters of all tiers.
pub async fn meters(api: &Api, jackpot_id: &str) -> Result<Vec<Meter>, SimulateError> {
    #[derive(Deserialize)]
    struct WithMeters {
        meters: Vec<Meter>,
    }
    let answer: WithMeters = api.get(&format!("/v1/jackpots/{jackpot_id}")).await?;
    Ok(answer.meters)
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

    use super::{Meter, gauge};

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
        let mut shown = json!({"tier":"grand","pool":1,"reserve":2,"overflow":3,"remainder_micro":4,"contributed":5,"funded":6,
            "paid":7,"wins":8,"reversed":9,"transferred_in":10,"transferred_out":11});
        let read = |shown: &serde_json::Value| serde_json::from_value::<Meter>(shown.clone());
        assert_eq!(read(&shown).unwrap().remainder_micro, 4);
        shown.as_object_mut().unwrap().remove("overflow");
        assert!(read(&shown).is_err());
    }
}
