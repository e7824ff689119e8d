//! Exactly once, seen from outside: the same id, the same answer.

use serde_json::Value;

use crate::jackpot::evidence::{Evidence, Repeated, Seen};

/// Repeats answer the same JSON value as the first call; exactly one call of an entry says that it made it.
pub fn same_answer(evidence: &Evidence) -> Result<String, String> {
    let mut at_once = 0;
    for pair in &evidence.repeated {
        same_value(pair)?;
        made_once(pair)?;
        at_once += usize::from(pair.at_once);
    }
    Ok(format!(
        "{} repeats, {at_once} of them at the same instant",
        evidence.repeated.len()
    ))
}

fn same_value(pair: &Repeated) -> Result<(), String> {
    let value = |seen: &Seen| {
        serde_json::from_slice::<Value>(&seen.body)
            .map_err(|error| format!("an answer to {} is no JSON: {error}", pair.entry_id))
    };
    let (first, again) = (value(&pair.first)?, value(&pair.again)?);
    if first == again {
        return Ok(());
    }
    Err(format!(
        "{} was answered {first}, and when repeated {again}",
        pair.entry_id
    ))
}

fn made_once(pair: &Repeated) -> Result<(), String> {
    let Repeated {
        entry_id,
        first,
        again,
        at_once,
    } = pair;
    for seen in [first, again] {
        if seen.created == seen.replayed {
            return Err(format!(
                "{entry_id} was answered {}",
                if seen.created {
                    "201 as a replay"
                } else {
                    "200, not as a replay"
                }
            ));
        }
    }
    match (first.created, again.created) {
        (true, true) => Err(format!("{entry_id} was made twice: two answers are 201")),
        (false, true) if !at_once => Err(format!(
            "{entry_id} was made by its repeat: the answer before it was 200"
        )),
        // A call whose answer was lost may have made it. Without such a call, one answer must be 201.
        (false, false) if first.repeats == 0 && again.repeats == 0 => {
            Err(format!("{entry_id} was never made: no answer is 201"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::same_answer;
    use crate::jackpot::check::fixture::{self, found};
    use crate::jackpot::evidence::Repeated;

    fn altered(named: &str, change: fn(&mut Repeated)) {
        found("replays", "", named, |evidence| change(&mut evidence.repeated[0]));
    }

    #[test]
    fn another_answer_is_found() {
        altered("when repeated", |pair| pair.again.body = "{\"sequence\":99}".into());
    }

    #[test]
    fn an_entry_made_twice_or_never_is_found() {
        altered("made twice", |pair| {
            (pair.again.created, pair.again.replayed) = (true, false);
        });
        altered("never made", |pair| {
            (pair.first.created, pair.first.replayed) = (false, true);
        });
        let mut evidence = fixture::honest("");
        let first = &mut evidence.repeated[0].first;
        (first.created, first.replayed, first.repeats) = (false, true, 1);
        same_answer(&evidence).expect("the call whose answer was lost may have made it");
    }

    #[test]
    fn a_replay_that_does_not_say_so_is_found() {
        altered("not as a replay", |pair| pair.again.replayed = false);
    }
}
