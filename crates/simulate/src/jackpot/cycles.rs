//! The cycles of pools that must be hit, as the service publishes them, and their hidden amounts.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::draw::CycleSeed;
use super::plan::Plan;
use crate::SimulateError;
use crate::client::Api;

/// Pages of `/fairness` that are read at most: far more cycles than a run ends.
const MAX_PAGES: usize = 30_000;
/// Limit for the seeds of all ended cycles to be published.
const SEEDS_LIMIT: Duration = Duration::from_mins(1);
const SEEDS_POLL: Duration = Duration::from_millis(200);

/// A cycle as `/fairness` shows it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Cycle {
    pub tier: String,
    pub cycle: u64,
    pub nonce: String,
    pub commitment: String,
    pub low: Option<i64>,
    pub high: Option<i64>,
    #[serde(default)]
    pub from_at: Option<String>,
    pub deadline_at: Option<String>,
    pub ended_by: Option<String>,
    pub seed: Option<String>,
    pub trigger_amount: Option<i64>,
    pub trigger_at: Option<String>,
    /// The seed by the draw secret, where it is known.
    #[serde(skip)]
    pub derived: Option<CycleSeed>,
}

#[derive(Deserialize)]
struct Page {
    cycles: Vec<Cycle>,
    #[serde(default)]
    next_cursor: Option<String>,
}

impl Cycle {
    /// The amount that the pool had to reach, by the published seed, or by the draw secret while the cycle is open.
    pub fn trigger(&self) -> Option<i64> {
        let published = self.seed.as_deref().and_then(CycleSeed::published);
        let seed = published.as_ref().or(self.derived.as_ref())?;
        Some(seed.trigger_amount(self.low?, self.high?))
    }
}

/// All cycles of the plan's jackpot, with their seeds where the draw secret is known.
pub async fn read(api: &Api, plan: &Plan, secret: Option<&[u8; 32]>) -> Result<Vec<Cycle>, SimulateError> {
    let mut all = published(api, &plan.jackpot_id).await?;
    for cycle in &mut all {
        let derive = |secret| CycleSeed::derive(secret, &plan.jackpot_id, &cycle.tier, cycle.cycle, &cycle.nonce);
        cycle.derived = secret.map(derive);
    }
    Ok(all)
}

/// All cycles, oldest first, once each that has ended has its seed.
///
/// # Errors
/// The service can't be read.
pub async fn published(api: &Api, jackpot_id: &str) -> Result<Vec<Cycle>, SimulateError> {
    let started = Instant::now();
    loop {
        let all = read_once(api, jackpot_id).await?;
        let is_late = |cycle: &Cycle| cycle.ended_by.is_some() && cycle.seed.is_none();
        if !all.iter().any(is_late) || started.elapsed() > SEEDS_LIMIT {
            return Ok(all);
        }
        tokio::time::sleep(SEEDS_POLL).await;
    }
}

async fn read_once(api: &Api, jackpot_id: &str) -> Result<Vec<Cycle>, SimulateError> {
    let path = format!("/v1/jackpots/{jackpot_id}/fairness");
    let (mut all, mut url) = (Vec::new(), api.url(&path));
    for _ in 0..MAX_PAGES {
        let shown = api.call(reqwest::Method::GET, &url, None).await?.json(&path)?;
        let page: Page = serde_json::from_value(shown).map_err(|error| SimulateError::Unreadable {
            call: path.clone(),
            detail: error.to_string(),
        })?;
        all.extend(page.cycles);
        let Some(cursor) = page.next_cursor else {
            break;
        };
        url.query_pairs_mut().clear().append_pair("cursor", &cursor);
    }
    Ok(all)
}
