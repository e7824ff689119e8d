//! Triggers of must-hit cycles once more, from what the service publishes.

use super::draw::CycleSeed;
use super::fairness::Cycle;

/// An amount in minor units, and a second since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triggers {
    pub amount: Option<i64>,
    pub at: Option<i64>,
}

/// Computes the triggers of a cycle from its published seed, and compares them with what is published.
///
/// # Errors
/// What does not fit.
pub fn triggers(cycle: &Cycle) -> Result<Triggers, String> {
    let seed = cycle.seed.as_deref().ok_or("its seed is not published")?;
    let seed = CycleSeed::published(seed).ok_or("its seed can't be read")?;
    if seed.commitment() != cycle.commitment {
        return Err("its commitment is not the hash of its seed".to_owned());
    }
    let amount = match (cycle.low, cycle.high) {
        (Some(low), Some(high)) if low < high => Some(seed.trigger_amount(low, high)),
        (None, None) => None,
        (low, high) => return Err(format!("its low is {low:?}, its high {high:?}")),
    };
    let at = cycle.deadline_at.as_deref().map(|deadline| {
        let (from, deadline) = (second(cycle.from_at.as_deref()?)?, second(deadline)?);
        (from < deadline).then(|| seed.trigger_second(from, deadline))
    });
    let at = at.map(|at| at.ok_or("its times can't be read")).transpose()?;
    if amount != cycle.trigger_amount || at != cycle.trigger_at.as_deref().and_then(second) {
        return Err(format!(
            "its triggers are {amount:?} and {at:?} by its seed, published are {:?} and {:?}",
            cycle.trigger_amount, cycle.trigger_at
        ));
    }
    Ok(Triggers { amount, at })
}

/// A time of the API in whole seconds since 1970.
pub fn second(at: &str) -> Option<i64> {
    Some(at.parse::<jiff::Timestamp>().ok()?.as_second())
}

#[cfg(test)]
pub mod tests {
    use super::{Cycle, CycleSeed, Triggers, triggers};

    /// Of cycle 0 of tier `grand` of the contract's test vectors.
    const SEED: &str = "03d61afc10e7ed7d3a0dc0a816886872442510a04a21a190212f9d82c307e6c3";

    /// An ended cycle of this seed with the range 10 to 50.
    pub fn cycle(number: u64, seed: &str) -> Cycle {
        let known = CycleSeed::published(seed).expect("a seed");
        Cycle {
            tier: "grand".to_owned(),
            cycle: number,
            commitment: known.commitment(),
            low: Some(10),
            high: Some(50),
            ended_by: Some("must-hit".to_owned()),
            seed: Some(seed.to_owned()),
            trigger_amount: Some(known.trigger_amount(10, 50)),
            ..Cycle::default()
        }
    }

    #[test]
    fn the_published_example_comes_out() {
        let seed = CycleSeed::published(SEED).unwrap();
        assert_eq!(
            (seed.trigger_amount(0, 5_000), seed.trigger_second(0, 86_400)),
            (2_071, 50_699)
        );
        let known = cycle(0, SEED);
        assert_eq!(triggers(&known).unwrap().amount, known.trigger_amount);
        let begin = 1_795_240_800;
        let at = seed.trigger_second(begin + 20, begin + 100);
        assert!((begin + 21..=begin + 100).contains(&at));
        let text = |at: i64| Some(jiff::Timestamp::from_second(at).unwrap().to_string());
        let timed = Cycle {
            low: None,
            high: None,
            trigger_amount: None,
            from_at: text(begin + 20),
            deadline_at: text(begin + 100),
            trigger_at: text(at),
            ..known
        };
        let expected = Triggers {
            amount: None,
            at: Some(at),
        };
        assert_eq!(triggers(&timed), Ok(expected));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        type Change = fn(&mut Cycle);
        let changes: [(Change, &str); 5] = [
            (|one| one.seed = None, "not published"),
            (|one| one.seed = Some("x".to_owned()), "can't be read"),
            (|one| one.commitment.replace_range(..1, "x"), "commitment"),
            (|one| one.trigger_amount = Some(12_345), "by its seed"),
            (|one| one.low = Some(50), "its low"),
        ];
        for (change, named) in changes {
            let mut one = cycle(0, SEED);
            change(&mut one);
            assert!(triggers(&one).unwrap_err().contains(named), "{named}");
        }
    }
}
