//! Answers of the service, as the contract words them. Each error says what is wrong.

use serde::Deserialize;
use serde_json::Value;

use super::evidence::{Entry, Hit, Moved, Reversed};
use super::plan::{MILLION, Plan, Play};
use crate::jackpot::{Wire, WireHit, second};

/// The entry of one jackpot of a play. Its times are added by the player.
pub fn entry(market: &Plan, play: &Play, jackpot: usize, answer: &Value) -> Result<Entry, String> {
    let wire = Wire::deserialize(answer).map_err(|error| format!("it can't be read: {error}"))?;
    wire.is_to(&play.entry_id, market.jackpots()[jackpot].id(), &play.player_id)?;
    let tiers = market.tiers(jackpot);
    if !wire
        .contributions
        .iter()
        .map(|one| one.tier.as_str())
        .eq(tiers.iter().copied())
    {
        return Err("its contributions are not those of the tiers in their order".to_owned());
    }
    Ok(Entry {
        jackpot,
        id: wire.entry_id,
        stake: play.stake,
        source: play.source.clone(),
        sequence: wire.sequence,
        contributions: wire.contributions.iter().map(|one| (one.amount, one.pool)).collect(),
        won: wire.outcome.won()?,
        hit: wire.draw.must_hit.map(hit).transpose()?,
        is_new: false,
        sent_us: 0,
        answered_us: 0,
    })
}

fn hit(wire: WireHit) -> Result<Hit, String> {
    let trigger = match (wire.by.as_str(), &wire.trigger) {
        ("amount", Value::Number(amount)) => amount.as_i64(),
        ("time", Value::String(at)) => second(at),
        _ => None,
    };
    let trigger = trigger.ok_or_else(|| format!("its must_hit has by {} and trigger {}", wire.by, wire.trigger))?;
    Ok(Hit {
        tier: wire.tier,
        cycle: wire.cycle,
        by: wire.by,
        trigger,
    })
}

/// What a reversal gave back.
pub fn reversal(answer: &Value) -> Result<Vec<Reversed>, String> {
    #[derive(Deserialize)]
    struct ReversedTier {
        tier: String,
        amount: i64,
        amount_micro: i64,
        uncovered: i64,
        uncovered_micro: i64,
    }
    let micro = |whole: i64, rest: i64| i128::from(whole) * MILLION + i128::from(rest);
    let parts = Vec::<ReversedTier>::deserialize(&answer["reversed"]);
    let parts = parts.map_err(|error| format!("reversed of a reversal can't be read: {error}"))?;
    let part = |part: ReversedTier| Reversed {
        tier: part.tier,
        amount: micro(part.amount, part.amount_micro),
        uncovered: micro(part.uncovered, part.uncovered_micro),
    };
    Ok(parts.into_iter().map(part).collect())
}

/// What a transfer moves.
pub fn transfer(answer: &Value) -> Result<Vec<Moved>, String> {
    #[derive(Deserialize)]
    struct MovedTier {
        tier: String,
        to_tier: String,
        pool: i64,
        reserve: i64,
        overflow: i64,
        remainder_micro: i64,
    }
    let parts = Vec::<MovedTier>::deserialize(&answer["tiers"]);
    let parts = parts.map_err(|error| format!("tiers of a transfer can't be read: {error}"))?;
    let part = |part: MovedTier| Moved {
        tier: part.tier,
        to_tier: part.to_tier,
        whole: part.pool + part.reserve + part.overflow,
        remainder_micro: part.remainder_micro,
    };
    Ok(parts.into_iter().map(part).collect())
}
