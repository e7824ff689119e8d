//! The numbers of a run of a jackpot, from its evidence.

use serde::Serialize;

use super::answer::{Answer, Outcome};
use super::evidence::{Evidence, Meter, Record};
use crate::numbers::{Latency, latency, per};

/// What a run of a jackpot counts.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub entries: u64,
    pub entries_per_s: f64,
    pub latency: Latency,
    pub collision_entries: u64,
    /// Among the entries of collisions: paid at their first attempt.
    pub collision_paid: u64,
    pub paid: u64,
    pub paid_pools: u64,
    pub paid_fixed: u64,
    /// Among the pools: hits by their rule.
    pub hits: u64,
    pub cycles: u64,
    pub paid_after_redraw: u64,
    /// Minor units.
    pub paid_amount: i64,
    pub retries: u64,
    pub redrawn_entries: u64,
    pub replays: u64,
    pub replays_at_once: u64,
    pub returned: Returned,
}

/// What came back of all stakes, in parts per million, beside what the rules promise on average.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Returned {
    /// Fixed prizes of ordinary entries at their first draw, of the stakes of drawn entries. Chosen winners and
    /// redraws are no chance.
    pub fixed_ppm: u64,
    pub fixed_expected_ppm: Option<u64>,
    /// Everything that was paid, or that pools hold now, less what operators put in.
    pub pool_ppm: u64,
    pub pool_expected_ppm: Option<u64>,
}

impl Returned {
    fn of(evidence: &Evidence) -> Self {
        // The rules count every play as drawn, and one that hits is not.
        let is_drawn = |(record, answer): &(&Record, &Answer)| record.collision.is_none() && answer.must_hit.is_none();
        let ordinary = || evidence.answers().filter(is_drawn);
        let fixed = ordinary().filter_map(|(_, answer)| {
            let payout = answer.payout.as_ref()?;
            (!payout.takes_pool && answer.attempts.len() == 1).then_some(payout.amount)
        });
        let reached = |meter: &Meter| meter.pool + meter.overflow + meter.paid - meter.funded;
        let staked = |record: &Record| record.entry.stake;
        Self {
            fixed_ppm: of_stakes(fixed.sum(), ordinary().map(|(record, _)| staked(record)).sum()),
            fixed_expected_ppm: evidence.expected.fixed,
            pool_ppm: of_stakes(
                evidence.meters.iter().map(reached).sum(),
                evidence.answers().map(|(record, _)| staked(record)).sum(),
            ),
            pool_expected_ppm: evidence.expected.pool,
        }
    }
}

/// An amount in parts per million of what was staked.
fn of_stakes(amount: i64, staked: i64) -> u64 {
    let staked = u128::from(staked.max(1).unsigned_abs());
    let ppm = u128::from(amount.max(0).unsigned_abs()) * 1_000_000 / staked;
    u64::try_from(ppm).unwrap_or(u64::MAX)
}

impl Numbers {
    /// Counts the evidence.
    pub fn of(evidence: &Evidence, elapsed_s: f64) -> Self {
        let entries = evidence.records.len() as u64;
        let replays = evidence.repeated.len() as u64;
        let mut numbers = Self {
            entries,
            entries_per_s: per(entries, elapsed_s),
            latency: latency(evidence.latencies_us()),
            collision_entries: 0,
            collision_paid: 0,
            paid: 0,
            paid_pools: 0,
            paid_fixed: 0,
            hits: 0,
            cycles: evidence.cycles.len() as u64,
            paid_after_redraw: 0,
            paid_amount: 0,
            retries: 0,
            redrawn_entries: 0,
            replays,
            replays_at_once: evidence.repeated.iter().filter(|pair| pair.at_once).count() as u64,
            returned: Returned::of(evidence),
        };
        for (record, answer) in evidence.answers() {
            let redrawn = answer.attempts.len() > 1;
            numbers.redrawn_entries += u64::from(redrawn);
            numbers.retries += answer
                .attempts
                .iter()
                .filter(|attempt| attempt.result == Outcome::Retry)
                .count() as u64;
            numbers.collision_entries += u64::from(record.collision.is_some());
            if let Some(payout) = &answer.payout {
                numbers.paid += 1;
                numbers.paid_amount += payout.amount;
                numbers.paid_pools += u64::from(payout.takes_pool);
                numbers.paid_fixed += u64::from(!payout.takes_pool);
                numbers.hits += u64::from(answer.must_hit.is_some());
                numbers.paid_after_redraw += u64::from(redrawn);
                numbers.collision_paid += u64::from(record.collision.is_some() && !redrawn);
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;
    use crate::jackpot::check::fixture;
    use crate::jackpot::plan::Plan;
    use crate::scenario::Scenario;

    #[test]
    fn a_run_is_counted() {
        let numbers = Numbers::of(&fixture::honest(""), 2.0);
        assert_eq!(
            (numbers.entries, numbers.replays, numbers.replays_at_once),
            (4_000, 2, 1)
        );
        assert_eq!((numbers.latency.p50_us, numbers.latency.max_us), (25, 25));
        assert_eq!(numbers.paid, numbers.paid_pools + numbers.paid_fixed);
        assert!(numbers.paid_after_redraw > 0 && numbers.retries >= numbers.redrawn_entries);
        // Each entry adds one unit for its stake of 100; one of twenty wins ten units.
        let returned = numbers.returned;
        assert_eq!(returned.pool_ppm, 10_000, "{returned:?}");
        assert!((3_000..7_000).contains(&returned.fixed_ppm), "{returned:?}");
        assert!((Plan::client_per_s(&numbers, 2.0) - 2_001.0).abs() < 0.1);
    }

    #[test]
    fn hits_are_counted_in_what_comes_back() {
        let evidence = fixture::honest("--must-hit-low 100 --must-hit-high 120");
        let numbers = Numbers::of(&evidence, 2.0);
        assert!(
            numbers.hits > 3 && numbers.hits < numbers.paid_pools,
            "{} of {}",
            numbers.hits,
            numbers.paid_pools
        );
        assert_eq!(numbers.cycles, numbers.paid_pools + 1);
        assert_eq!(numbers.returned.pool_ppm, 10_000, "what hits took is in it");
    }
}
