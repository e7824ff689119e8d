//! What the service publishes of a jackpot's chances: its epochs, from which draws follow, and the cycles of pools that must
//! be hit, with their hidden amounts.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::draw::{CycleSeed, EpochSeed, secret_id};
use super::plan::Plan;
use crate::client::Api;
use crate::{SimulateError, look};

/// Pages of `/fairness` that are read at most: far more epochs and cycles than a run opens.
const MAX_PAGES: usize = 30_000;

/// An epoch as `/fairness` shows it.
#[derive(Debug, Clone, Deserialize)]
pub struct Epoch {
    pub epoch: u64,
    pub nonce: String,
    pub secret_id: String,
    pub commitment: String,
    pub closed_at: Option<String>,
}

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
    epochs: Vec<Epoch>,
    cycles: Vec<Cycle>,
    #[serde(default)]
    next_cursor: Option<String>,
}

impl Epoch {
    /// Its seed, from the draw secret.
    ///
    /// # Errors
    /// What does not fit: another secret, or a commitment that is not that of the seed.
    pub fn seed(&self, secret: &[u8; 32], jackpot_id: &str) -> Result<EpochSeed, String> {
        let own = secret_id(secret);
        if own != self.secret_id {
            return Err(format!(
                "the draw secret has the id {own}, epoch {} was opened under {}: it is another service's secret",
                self.epoch, self.secret_id
            ));
        }
        let seed = EpochSeed::derive(secret, jackpot_id, self.epoch, &self.nonce);
        let commitment = seed.commitment();
        if commitment != self.commitment {
            return Err(format!(
                "the draw secret gives commitment {commitment} for epoch {}, the service publishes {}",
                self.epoch, self.commitment
            ));
        }
        Ok(seed)
    }
}

impl Cycle {
    /// The amount that the pool had to reach, by the published seed, or by the draw secret while the cycle is open.
    pub fn trigger(&self) -> Option<i64> {
        let published = self.seed.as_deref().and_then(CycleSeed::published);
        let seed = published.as_ref().or(self.derived.as_ref())?;
        Some(seed.trigger_amount(self.low?, self.high?))
    }
}

/// All epochs by their number.
pub async fn epochs(api: &Api, jackpot_id: &str) -> Result<BTreeMap<u64, Epoch>, SimulateError> {
    let pages = pages(api, jackpot_id).await?.into_iter();
    let all = pages.flat_map(|page| page.epochs);
    Ok(all.map(|epoch| (epoch.epoch, epoch)).collect())
}

/// All cycles of the plan's jackpot, with their seeds where the draw secret is known.
pub async fn cycles(api: &Api, plan: &Plan, secret: Option<&[u8; 32]>) -> Result<Vec<Cycle>, SimulateError> {
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
    let once = async || {
        let pages = pages(api, jackpot_id).await?.into_iter();
        Ok(pages.flat_map(|page| page.cycles).collect::<Vec<_>>())
    };
    let is_late = |cycle: &Cycle| cycle.ended_by.is_some() && cycle.seed.is_none();
    look::until(once, |all| !all.iter().any(is_late)).await
}

async fn pages(api: &Api, jackpot_id: &str) -> Result<Vec<Page>, SimulateError> {
    let path = format!("/v1/jackpots/{jackpot_id}/fairness");
    let (mut all, mut url) = (Vec::new(), api.url(&path));
    for _ in 0..MAX_PAGES {
        let page: Page = api.call(reqwest::Method::GET, &url, None).await?.json(&path)?;
        let cursor = page.next_cursor.clone();
        all.push(page);
        let Some(cursor) = cursor else {
            break;
        };
        url.query_pairs_mut().clear().append_pair("cursor", &cursor);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::Epoch;

    fn spring() -> Epoch {
        serde_json::from_value(
            serde_json::json!({"epoch": 1, "nonce": "00112233445566778899aabbccddeeff",
            "secret_id": "abc44bcf0634a438", "opened_at": "2026-11-21T06:45:03.125Z", "closed_at": null, "seed": null,
            "commitment": "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258"}),
        )
        .expect("an epoch")
    }

    #[test]
    fn the_seed_of_a_published_epoch_follows_from_secret_and_nonce() {
        assert!(spring().seed(&[0x5f; 32], "spring").is_ok());
        let wrong = spring().seed(&[0x60; 32], "spring").expect_err("another secret");
        assert!(wrong.contains("abc44bcf0634a438"), "{wrong}");
        let other = Epoch {
            nonce: "0".repeat(32),
            ..spring()
        };
        let wrong = other.seed(&[0x5f; 32], "spring").expect_err("another nonce");
        assert!(wrong.contains("the service publishes 7bc62f73"), "{wrong}");
    }
}
