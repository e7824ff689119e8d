//! Looks at many rooms without a script.

use redis::{Cmd, Value};

use crate::known::Known;
use jackpot_kernel::store::{Store, StoreError};

use super::Mark;

/// Whether nothing has happened in each of these rooms since a step at this mark: nobody waits or is in, and the mark and
/// the number of passes are the same, which a Redis that lost some has not. `None` while its node does not answer. What is
/// due at a time is not looked at.
pub async fn are_quiet(store: &Store, rooms: &[(&Known, Mark)]) -> Vec<Option<bool>> {
    let reads: Vec<Cmd> = rooms.iter().flat_map(|(known, _)| reads(known)).collect();
    let answers = store.read_together(&reads).await;
    let each = rooms.iter().zip(answers.chunks(READS));
    each.map(|((known, mark), answers)| is_quiet(answers, (*mark, known.passes())))
        .collect()
}

/// Commands for one room.
const READS: usize = 2;

fn reads(known: &Known) -> [Cmd; READS] {
    let (mut somebody, mut mark) = (redis::cmd("EXISTS"), redis::cmd("HMGET"));
    // A sorted set without members does not exist.
    somebody.arg(&known.keys.waiting).arg(&known.keys.active);
    mark.arg(&known.keys.state).arg("n").arg("restores").arg("passes");
    [somebody, mark]
}

fn is_quiet(answers: &[Result<Value, StoreError>], known: (Mark, u64)) -> Option<bool> {
    let is_away = |answer: &&Result<Value, StoreError>| matches!(answer, Err(StoreError::Unavailable { .. }));
    if answers.iter().any(|answer| is_away(&answer)) {
        return None;
    }
    let [Ok(somebody), Ok(state)] = answers else {
        return Some(false);
    };
    let state: Option<(u64, u64, u64)> = redis::from_redis_value_ref(state).ok();
    let now = state.and_then(|(n, restores, passes)| Some((Mark::new(restores, n)?, passes)));
    Some(*somebody == Value::Int(0) && now == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_quiet_while_nobody_is_there_and_its_mark_stays() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let state = |n: &str, passes: &str| Ok(Value::Array(vec![text(n), text("1"), text(passes)]));
        let known = (Mark::new(1, 7).expect("a mark"), 40);
        let look = |somebody, state| is_quiet(&[Ok(Value::Int(somebody)), state], known);
        assert_eq!(look(0, state("7", "40")), Some(true));
        assert_eq!(look(1, state("7", "40")), Some(false));
        assert_eq!(look(0, state("8", "40")), Some(false));
        assert_eq!(look(0, state("7", "39")), Some(false), "Redis lost a pass");
        let none = Ok(Value::Array(vec![Value::Nil, Value::Nil, Value::Nil]));
        assert_eq!(look(0, none), Some(false), "the room is lost");
        let away = || {
            Err(StoreError::Unavailable {
                what: "a pipeline".to_owned(),
                cause: "a test".to_owned(),
            })
        };
        assert_eq!(is_quiet(&[away(), away()], known), None);
    }
}
