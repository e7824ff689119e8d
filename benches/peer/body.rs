//! Bodies of an entry, as the service has them.

use jackpot::http::body::Described;
use jackpot::jackpot::play::Played;
use jackpot_core::ids::{ClientSeed, Id, PersonId};
use jackpot_core::jackpot::derived::payout_id;
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::money::Minor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryBody {
    #[schema(value_type = String)]
    pub(super) entry_id: Id,
    #[schema(value_type = String)]
    player_id: PersonId,
    #[schema(value_type = u64)]
    stake: Minor,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    client_seed: Option<ClientSeed>,
}

impl Described for EntryBody {}

impl EntryBody {
    pub(super) fn sent(self) -> Sent {
        Sent {
            client_seed: self.client_seed,
            ..Sent::of(self.player_id, self.stake)
        }
    }
}

/// What is answered.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    entry_id: String,
    jackpot_id: Id,
    player_id: PersonId,
    sequence: u64,
    contributions: Vec<Contribution>,
    outcome: Outcome,
    draw: Draw,
}

#[derive(Debug, Serialize)]
struct Contribution {
    tier: Id,
    amount: u64,
    pool: u64,
}

#[derive(Debug, Default, Serialize)]
struct Outcome {
    rank: u32,
    prize: &'static str,
    tier: Option<Id>,
    amount: Option<u64>,
    payout_id: Option<String>,
    claim_order: Option<u64>,
    coupon: Option<()>,
}

#[derive(Debug, Serialize)]
struct Draw {
    epoch: u64,
    commitment: String,
    definition_version: u64,
    attempts: Vec<Attempt>,
}

#[derive(Debug, Serialize)]
struct Attempt {
    attempt: u32,
    rank: u32,
    result: &'static str,
}

/// The answer to an entry that was played.
pub(super) fn answer(jackpot_id: Id, played: Played) -> Entry {
    let outcome = match &played.record.state {
        State::Paid { payout, .. } => Outcome {
            rank: payout.rank,
            // The definition of every jackpot here has these prizes.
            prize: if payout.rank == 1 { "pool" } else { "fixed" },
            tier: Some(payout.tier.clone()),
            amount: Some(payout.amount),
            payout_id: Some(payout_id(
                &jackpot_id,
                &payout.history,
                &played.entry_id,
                played.record.sequence,
            )),
            claim_order: Some(payout.claim_order),
            coupon: None,
        },
        _ => Outcome {
            prize: "none",
            ..Outcome::default()
        },
    };
    let tiers = played.definition.tiers().iter().zip(played.record.contributions);
    let contributions = tiers.map(|(tier, added)| Contribution {
        tier: tier.tier.clone(),
        amount: added.amount,
        pool: added.pool,
    });
    let attempts = played.attempts.iter().map(|a| Attempt {
        attempt: a.attempt,
        rank: a.rank,
        result: a.result.as_str(),
    });
    Entry {
        entry_id: played.entry_id,
        player_id: played.sent.player,
        sequence: played.record.sequence,
        contributions: contributions.collect(),
        outcome,
        draw: Draw {
            epoch: played.record.epoch,
            commitment: played.commitment,
            definition_version: played.record.version,
            attempts: attempts.collect(),
        },
        jackpot_id,
    }
}

/// An answer to an entry that won nothing, as long as in the middle of a load.
pub(super) fn typical() -> Entry {
    let id = |text| Id::parse(text).expect("an id");
    Entry {
        entry_id: crate::json::entry_id(1, 1),
        jackpot_id: id("bench-0"),
        player_id: PersonId::parse("p0000001").expect("an id"),
        sequence: 100_000,
        contributions: vec![Contribution {
            tier: id("grand"),
            amount: 1,
            pool: 50_000,
        }],
        outcome: Outcome {
            prize: "none",
            ..Outcome::default()
        },
        draw: Draw {
            epoch: 1,
            commitment: "c".repeat(64),
            definition_version: 1,
            attempts: vec![Attempt {
                attempt: 0,
                rank: 0,
                result: "none",
            }],
        },
    }
}
