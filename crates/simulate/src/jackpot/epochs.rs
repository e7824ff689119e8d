//! The epochs of a jackpot as the service publishes them: what its seeds are derived from, beside the draw secret.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::draw::{EpochSeed, secret_id};
use crate::SimulateError;
use crate::client::Api;

/// Pages of `/fairness` that are read at most: far more epochs than a run opens.
const MAX_PAGES: usize = 1_000;

/// An epoch as `/fairness` shows it.
#[derive(Debug, Clone, Deserialize)]
pub struct Epoch {
    pub epoch: u64,
    pub nonce: String,
    pub secret_id: String,
    pub commitment: String,
    pub closed_at: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    epochs: Vec<Epoch>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// All epochs by their number.
pub async fn read(api: &Api, jackpot_id: &str) -> Result<BTreeMap<u64, Epoch>, SimulateError> {
    let path = format!("/v1/jackpots/{jackpot_id}/fairness");
    let mut all = BTreeMap::new();
    let mut url = api.url(&path);
    for _ in 0..MAX_PAGES {
        let shown = api.call(reqwest::Method::GET, &url, None).await?.json(&path)?;
        let page: Page = serde_json::from_value(shown).map_err(|error| SimulateError::Unreadable {
            call: path.clone(),
            detail: error.to_string(),
        })?;
        all.extend(page.epochs.into_iter().map(|epoch| (epoch.epoch, epoch)));
        let Some(cursor) = page.next_cursor else {
            break;
        };
        url.query_pairs_mut().clear().append_pair("cursor", &cursor);
    }
    Ok(all)
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
