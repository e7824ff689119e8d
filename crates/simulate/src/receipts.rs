//! The receipts of a run, as the ledger shows them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde::Deserialize;

use super::client::Api;
use super::evidence::{Receipt, Receipts};
use super::plan::Plan;

/// How long the ledger may take to have all of a run.
const LIMIT: Duration = Duration::from_mins(1);
/// Between two looks.
const POLL: Duration = Duration::from_millis(200);
/// Receipts of one page: the most there may be.
const PAGE: usize = 1_000;

#[derive(Deserialize)]
struct Page {
    items: Vec<Item>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    payout_id: String,
    entry_id: String,
    tier: String,
    amount: i64,
    claim_order: u64,
}

/// Waits until the ledger has as many receipts as there were wins, then reads them all.
pub async fn read(api: &Api, plan: &Plan, wins: usize) -> Receipts {
    let started = Instant::now();
    loop {
        match all(api, plan).await {
            Ok(receipts) if receipts.len() >= wins || started.elapsed() > LIMIT => {
                return Receipts::Read(receipts);
            }
            Ok(_) => tokio::time::sleep(POLL).await,
            Err(why) => return Receipts::Unknown(why),
        }
    }
}

async fn all(api: &Api, plan: &Plan) -> Result<BTreeMap<String, Receipt>, String> {
    let mut receipts = BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut url = api.url("/v1/payouts");
        url.query_pairs_mut()
            .append_pair("jackpot_id", &plan.jackpot_id)
            .append_pair("limit", &PAGE.to_string());
        if let Some(cursor) = &cursor {
            url.query_pairs_mut().append_pair("cursor", cursor);
        }
        let answer = api
            .call(Method::GET, &url, None)
            .await
            .map_err(|error| error.to_string())?;
        let page: Page = serde_json::from_slice(&answer.body).map_err(|error| format!("{url}: {error}"))?;
        receipts.extend(page.items.into_iter().map(|item| {
            let receipt = Receipt {
                entry_id: item.entry_id,
                tier: item.tier,
                amount: item.amount,
                claim_order: item.claim_order,
            };
            (item.payout_id, receipt)
        }));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(receipts);
        }
    }
}
