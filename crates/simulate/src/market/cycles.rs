//! Cycles of must-hit tiers as the service publishes them, and their triggers once more, from the published text alone.

use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::answer::second;
use crate::SimulateError;
use crate::client::Api;

/// Pages of `/fairness` that are read at most: far more cycles than a run ends.
const MAX_PAGES: usize = 30_000;
/// Limit for the seeds of all ended cycles to be published.
const SEEDS_LIMIT: Duration = Duration::from_mins(1);
const SEEDS_POLL: Duration = Duration::from_millis(200);

/// A cycle as `/fairness` shows it.
#[derive(Debug, Clone, Deserialize)]
pub struct Cycle {
    pub tier: String,
    pub cycle: u64,
    pub commitment: String,
    pub low: Option<i64>,
    pub high: Option<i64>,
    pub began_at: String,
    pub deadline_at: Option<String>,
    pub ended_at: Option<String>,
    pub ended_by: Option<String>,
    pub seed: Option<String>,
    pub trigger_amount: Option<i64>,
    pub trigger_at: Option<String>,
}

/// Its triggers: an amount in minor units, and a second since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triggers {
    pub amount: Option<i64>,
    pub at: Option<i64>,
}

impl Cycle {
    /// Computes the triggers from the published seed, and compares them with what is published. `rule`: `must_hit_by` of the
    /// definition.
    ///
    /// # Errors
    /// What does not fit.
    pub fn triggers(&self, rule: &Value) -> Result<Triggers, String> {
        let seed = self.seed.as_deref().ok_or("its seed is not published")?;
        let seed = hex::decode(seed).map_err(|error| format!("its seed can't be read: {error}"))?;
        if hex::encode(Sha256::digest(&seed)) != self.commitment {
            return Err("its commitment is not the hash of its seed".to_owned());
        }
        let amount = match (self.low, self.high) {
            (Some(low), Some(high)) if low < high => Some(low + 1 + index(&seed, "amount", high - low)),
            (None, None) => None,
            (low, high) => return Err(format!("its low is {low:?}, its high {high:?}")),
        };
        let at = self.deadline_at.as_deref().map(|deadline| {
            let (began, deadline) = (second(&self.began_at)?, second(deadline)?);
            let after = rule["time"]["after_s"].as_i64().unwrap_or_default();
            let range = deadline - began - after;
            (range > 0).then(|| began + after + 1 + index(&seed, "time", range))
        });
        let at = at.map(|at| at.ok_or("its times can't be read")).transpose()?;
        if amount != self.trigger_amount || at != self.trigger_at.as_deref().and_then(second) {
            return Err(format!(
                "its triggers are {amount:?} and {at:?} by its seed, published are {:?} and {:?}",
                self.trigger_amount, self.trigger_at
            ));
        }
        Ok(Triggers { amount, at })
    }
}

/// All cycles of a jackpot, the oldest first, once each that has ended has its seed.
pub async fn read(api: &Api, jackpot_id: &str) -> Result<Vec<Cycle>, SimulateError> {
    let started = Instant::now();
    loop {
        let all = read_once(api, jackpot_id).await?;
        let is_late = |cycle: &Cycle| cycle.ended_at.is_some() && cycle.seed.is_none();
        if !all.iter().any(is_late) || started.elapsed() > SEEDS_LIMIT {
            return Ok(all);
        }
        tokio::time::sleep(SEEDS_POLL).await;
    }
}

async fn read_once(api: &Api, jackpot_id: &str) -> Result<Vec<Cycle>, SimulateError> {
    #[derive(Deserialize)]
    struct Page {
        cycles: Vec<Cycle>,
        next_cursor: Option<String>,
    }
    let path = format!("/v1/jackpots/{jackpot_id}/fairness");
    let (mut all, mut url) = (Vec::new(), api.url(&path));
    for _ in 0..MAX_PAGES {
        let shown = api.call(Method::GET, &url, None).await?.json(&path)?;
        let page = Page::deserialize(&shown).map_err(|error| SimulateError::Unreadable {
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

/// Uniform below `n`, from the words of `HMAC-SHA256(seed, "{kind}\n{block}")` with rejection.
fn index(seed: &[u8], kind: &str, n: i64) -> i64 {
    let n = u128::from(n.unsigned_abs());
    let limit = (1_u128 << 64) / n * n;
    for block in 0_u32.. {
        let mut mac = Hmac::<Sha256>::new_from_slice(seed).expect("HMAC takes keys of any length");
        mac.update(format!("{kind}\n{block}").as_bytes());
        for word in mac.finalize().into_bytes().as_chunks::<8>().0 {
            let word = u128::from(u64::from_be_bytes(*word));
            if word < limit {
                return i64::try_from(word % n).expect("less than n");
            }
        }
    }
    unreachable!("2^34 words in a row above the limit")
}

#[cfg(test)]
pub mod tests {
    use serde_json::{Value, json};
    use sha2::{Digest, Sha256};

    use super::{Cycle, Triggers, index, second};

    /// Of cycle 0 of tier `grand` of the contract's test vectors.
    const SEED: &str = "03d61afc10e7ed7d3a0dc0a816886872442510a04a21a190212f9d82c307e6c3";

    /// An ended cycle of this seed with the range 10 to 50.
    pub fn cycle(number: u64, seed: &[u8; 32]) -> Cycle {
        Cycle {
            tier: "grand".to_owned(),
            cycle: number,
            commitment: hex::encode(Sha256::digest(seed)),
            low: Some(10),
            high: Some(50),
            began_at: "2026-11-21T06:00:00.900Z".to_owned(),
            deadline_at: None,
            ended_at: Some("2026-11-21T06:00:01.000Z".to_owned()),
            ended_by: Some("must-hit".to_owned()),
            seed: Some(hex::encode(seed)),
            trigger_amount: Some(11 + index(seed, "amount", 40)),
            trigger_at: None,
        }
    }

    #[test]
    fn the_published_example_comes_out() {
        let seed: [u8; 32] = hex::decode(SEED).unwrap().try_into().unwrap();
        assert_eq!(
            (index(&seed, "amount", 5_000), index(&seed, "time", 86_400)),
            (2_070, 50_698)
        );
        let known = cycle(0, &seed);
        let none = Value::Null;
        let triggers = known.triggers(&none).unwrap();
        assert_eq!(triggers.amount, known.trigger_amount);
        let timed = Cycle {
            low: None,
            high: None,
            trigger_amount: None,
            deadline_at: Some("2026-11-21T06:01:40.000Z".to_owned()),
            trigger_at: None,
            ..known.clone()
        };
        let at = second(&known.began_at).unwrap() + 20 + 1 + index(&seed, "time", 80);
        let timed = Cycle {
            trigger_at: Some(jiff::Timestamp::from_second(at).unwrap().to_string()),
            ..timed
        };
        let rule = json!({"time": {"after_s": 20, "within_s": 100}});
        assert_eq!(
            timed.triggers(&rule),
            Ok(Triggers {
                amount: None,
                at: Some(at)
            })
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let known = cycle(0, &[7; 32]);
        type Change = fn(&mut Cycle);
        let changes: [(Change, &str); 4] = [
            (|one| one.seed = None, "not published"),
            (|one| one.commitment.replace_range(..1, "x"), "commitment"),
            (|one| one.trigger_amount = Some(12_345), "by its seed"),
            (|one| one.low = Some(50), "its low"),
        ];
        for (change, named) in changes {
            let mut one = known.clone();
            change(&mut one);
            assert!(one.triggers(&Value::Null).unwrap_err().contains(named), "{named}");
        }
    }
}
