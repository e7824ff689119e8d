//! An entry's answer, read from JSON and kept small: a run holds every one of them until its checks.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::evidence::Receipt;
use super::plan::{Entry, Plan, player_id};

/// What came of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Money was taken.
    Paid,
    /// No rank was drawn.
    None,
    /// The claim was refused for this attempt.
    Retry,
}

/// One attempt as answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    /// From 0.
    #[serde(rename = "attempt")]
    pub number: u32,
    pub rank: u32,
    pub result: Outcome,
}

/// Money that an entry won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    pub rank: u32,
    /// A pool prize; else a fixed one.
    pub takes_pool: bool,
    /// Index of the tier in the plan.
    pub tier: usize,
    /// Minor units.
    pub amount: i64,
    pub id: String,
    pub claim_order: u64,
}

/// What an entry hit by the rule of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Index of the tier in the plan.
    pub tier: usize,
    pub cycle: u64,
    /// The amount that the pool had to reach, minor units.
    pub trigger: i64,
}

/// One contribution as answered, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contribution {
    pub amount: i64,
    /// The pool right after it.
    pub pool: i64,
}

/// An answer to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub sequence: u64,
    /// One per tier of the plan, in its order.
    pub contributions: Box<[Contribution]>,
    pub payout: Option<Box<Payout>>,
    pub attempts: Box<[Attempt]>,
    /// A hit by a rule: then nothing was drawn.
    pub must_hit: Option<Hit>,
    pub epoch: u64,
    pub commitment: Arc<str>,
}

/// The answer as the contract words it.
#[derive(Deserialize)]
pub struct Wire {
    pub entry_id: String,
    jackpot_id: String,
    player_id: String,
    pub sequence: u64,
    pub contributions: Vec<WireContribution>,
    pub outcome: WireOutcome,
    pub draw: WireDraw,
}

#[derive(Deserialize)]
pub struct WireContribution {
    pub tier: String,
    pub amount: i64,
    pub pool: i64,
}

#[derive(Deserialize)]
pub struct WireOutcome {
    rank: u32,
    prize: String,
    tier: Option<String>,
    amount: Option<i64>,
    payout_id: Option<String>,
    claim_order: Option<u64>,
    #[serde(default)]
    coupon: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
pub struct WireDraw {
    epoch: u64,
    commitment: String,
    attempts: Vec<Attempt>,
    #[serde(default)]
    pub must_hit: Option<WireHit>,
}

#[derive(Deserialize)]
pub struct WireHit {
    pub tier: String,
    pub cycle: u64,
    pub by: String,
    pub trigger: Value,
}

/// Money that an entry won, in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Won {
    pub tier: String,
    pub amount: i64,
    pub payout_id: String,
    pub claim_order: u64,
}

impl Wire {
    /// Whether it is an answer to this entry.
    pub fn is_to(&self, entry_id: &str, jackpot_id: &str, player_id: &str) -> Result<(), String> {
        for (field, got, sent) in [
            ("entry_id", &self.entry_id, entry_id),
            ("jackpot_id", &self.jackpot_id, jackpot_id),
            ("player_id", &self.player_id, player_id),
        ] {
            if got != sent {
                return Err(format!("{field} is {got}, sent was {sent}"));
            }
        }
        Ok(())
    }
}

impl WireOutcome {
    pub fn won(self) -> Result<Option<Won>, String> {
        match (self.tier, self.amount, self.payout_id, self.claim_order) {
            (None, None, None, None) => Ok(None),
            (Some(tier), Some(amount), Some(payout_id), Some(claim_order)) => Ok(Some(Won {
                tier,
                amount,
                payout_id,
                claim_order,
            })),
            _ => Err("its outcome is paid in part: tier, amount, payout_id and claim_order come together".to_owned()),
        }
    }
}

impl Won {
    /// What the ledger must have of it.
    pub fn receipt(&self, entry_id: &str) -> Receipt {
        Receipt {
            entry_id: entry_id.to_owned(),
            tier: self.tier.clone(),
            amount: self.amount,
            claim_order: self.claim_order,
        }
    }
}

/// Reads an answer and checks that it is one to this entry. The error says what is wrong with it.
pub fn read(plan: &Plan, entry: &Entry, body: &[u8]) -> Result<Answer, String> {
    let wire: Wire = serde_json::from_slice(body).map_err(|error| format!("it can't be read: {error}"))?;
    wire.is_to(&entry.id, &plan.jackpot_id, &player_id(entry.player))?;
    let says_hit = wire.outcome.prize == "must-hit";
    if says_hit != wire.draw.must_hit.is_some() {
        return Err("prize and must_hit do not agree whether a rule was hit".to_owned());
    }
    let hit = |hit: WireHit| {
        Ok::<_, String>(Hit {
            tier: tier_of(plan, &hit.tier)?,
            cycle: hit.cycle,
            trigger: hit.trigger.as_i64().ok_or("its must_hit has no amount")?,
        })
    };
    Ok(Answer {
        must_hit: wire.draw.must_hit.map(hit).transpose()?,
        sequence: wire.sequence,
        contributions: contributions(plan, &wire.contributions)?,
        payout: payout(plan, wire.outcome)?.map(Box::new),
        attempts: wire.draw.attempts.into(),
        epoch: wire.draw.epoch,
        commitment: wire.draw.commitment.into(),
    })
}

fn contributions(plan: &Plan, wire: &[WireContribution]) -> Result<Box<[Contribution]>, String> {
    if wire.len() != plan.tiers.len() {
        return Err(format!(
            "it has {} contributions for {} tiers",
            wire.len(),
            plan.tiers.len()
        ));
    }
    plan.tiers
        .iter()
        .map(|tier| {
            wire.iter()
                .find(|contribution| contribution.tier == tier.name)
                .map(|found| Contribution {
                    amount: found.amount,
                    pool: found.pool,
                })
                .ok_or_else(|| format!("it has no contribution to {}", tier.name))
        })
        .collect()
}

fn payout(plan: &Plan, wire: WireOutcome) -> Result<Option<Payout>, String> {
    if wire.coupon.is_some() {
        return Err("it gives a coupon that the jackpot does not have".to_owned());
    }
    let rank = wire.rank;
    let takes_pool = match (rank, wire.prize.as_str()) {
        (0, "none") => None,
        (0, "must-hit") | (1.., "pool") => Some(true),
        (1.., "fixed") => Some(false),
        (rank, prize) => return Err(format!("rank {rank} can't have the prize {prize}")),
    };
    match (takes_pool, wire.won()?) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err("it has no prize but says what was paid".to_owned()),
        (Some(_), None) => Err("it has a prize but does not say what was paid".to_owned()),
        (Some(takes_pool), Some(won)) => Ok(Some(Payout {
            rank,
            takes_pool,
            tier: tier_of(plan, &won.tier)?,
            amount: won.amount,
            id: won.payout_id,
            claim_order: won.claim_order,
        })),
    }
}

fn tier_of(plan: &Plan, name: &str) -> Result<usize, String> {
    let index = plan.tiers.iter().position(|known| known.name == name);
    index.ok_or_else(|| format!("it pays from {name}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::{Attempt, Entry, Outcome, Plan, read};
    use crate::Args;

    fn answer() -> Value {
        json!({"entry_id":"e1","jackpot_id":"sim-1","player_id":"p7","sequence":8812,
            "contributions":[{"tier":"grand","amount":1,"pool":18811}],
            "outcome":{"rank":1,"prize":"pool","tier":"grand","amount":18811,"payout_id":"x","claim_order":4,"coupon":null},
            "draw":{"epoch":1,"commitment":"c","definition_version":3,"attempts":[{"attempt":0,"rank":1,"result":"paid"}],"must_hit":null}})
    }

    fn read_value(value: &Value) -> Result<super::Answer, String> {
        let plan = Plan::new(&Args::parse_from(["simulate"]), true);
        let entry = Entry {
            id: "e1".to_owned(),
            player: 7,
            stake: 100,
            client_seed: None,
        };
        read(&plan, &entry, value.to_string().as_bytes())
    }

    #[test]
    fn the_documented_answer_is_read() {
        let read = read_value(&answer()).unwrap();
        assert_eq!((read.sequence, read.contributions[0].pool), (8812, 18811));
        assert_eq!(read.payout.unwrap().claim_order, 4);
        assert_eq!(
            *read.attempts,
            [Attempt {
                number: 0,
                rank: 1,
                result: Outcome::Paid
            }]
        );
    }

    #[test]
    fn an_answer_to_something_else_is_named() {
        for (pointer, value, named) in [
            ("/entry_id", json!("e2"), "entry_id"),
            ("/player_id", json!("p8"), "player_id"),
            ("/contributions", json!([]), "contributions"),
            ("/contributions/0/tier", json!("mini"), "grand"),
            ("/outcome/prize", json!("none"), "rank 1"),
            ("/outcome/amount", json!(null), "amount"),
            ("/outcome/tier", json!("mini"), "mini"),
            ("/draw/attempts/0/result", json!("perhaps"), "perhaps"),
            (
                "/draw/must_hit",
                json!({"tier": "grand", "cycle": 0, "by": "amount", "trigger": 9}),
                "must_hit",
            ),
            ("/outcome/prize", json!("must-hit"), "must_hit"),
        ] {
            let mut changed = answer();
            *changed.pointer_mut(pointer).unwrap() = value;
            let error = read_value(&changed).expect_err(pointer);
            assert!(error.contains(named), "{pointer}: {error}");
        }
    }

    #[test]
    fn no_prize_has_no_payout() {
        let mut none = answer();
        none["outcome"] = json!({"rank":0,"prize":"none","tier":null,"amount":null,"payout_id":null,"claim_order":null,"coupon":null});
        assert_eq!(read_value(&none).unwrap().payout, None);
        none["outcome"]["amount"] = json!(3);
        read_value(&none).expect_err("an amount without a prize");
    }
}
