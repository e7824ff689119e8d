//! The marks of many subjects, read in pipelines and without a script.
//!
//! A glance decides nothing: no replica may have what it shows, and nothing is checked. It says which subjects a script
//! should look at.

use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::{Cmd, Value};

use super::Subject;
use crate::store::{Store, StoreError};

/// What the state of a subject shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glance {
    /// Its mark.
    At(Mark),
    /// Nothing, a restore, or values that are no mark: a script says what it is.
    Unclear,
}

/// The glances of a turn. Subjects on nodes that did not answer are missing.
pub type Glances = Vec<(Id, Glance)>;

/// Looks at these subjects.
pub async fn glance<K: Subject>(store: &Store, subjects: &[Arc<K>]) -> Glances {
    let reads: Vec<Cmd> = subjects.iter().map(|known| read(known.stream().state)).collect();
    let answers = store.read_together(&reads).await;
    let seen = subjects.iter().zip(answers);
    seen.filter_map(|(known, answer)| Some((known.id().clone(), shown(answer)?)))
        .collect()
}

fn read(state: &str) -> Cmd {
    let mut read = redis::cmd("HMGET");
    read.arg(state).arg("n").arg("restores").arg("status");
    read
}

fn shown(answer: Result<Value, StoreError>) -> Option<Glance> {
    match answer {
        Ok(Value::Array(values)) => Some(mark_of(&values).map_or(Glance::Unclear, Glance::At)),
        Ok(_) | Err(StoreError::Script { .. } | StoreError::Protocol { .. }) => Some(Glance::Unclear),
        Err(_) => None,
    }
}

fn mark_of(values: &[Value]) -> Option<Mark> {
    let [
        Value::BulkString(n),
        Value::BulkString(restores),
        Value::BulkString(status),
    ] = values
    else {
        return None;
    };
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
    let mark = Mark::new(number(restores)?, number(n)?)?;
    (status != b"restoring").then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_state_shows_a_mark() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let of = |values: [Value; 3]| shown(Ok(Value::Array(values.to_vec())));
        let at = Mark::new(2, 7).map(Glance::At);
        assert_eq!(of([text("7"), text("2"), text("open")]), at);
        assert_eq!(of([text("7"), text("2"), text("restoring")]), Some(Glance::Unclear));
        assert_eq!(of([Value::Nil, Value::Nil, Value::Nil]), Some(Glance::Unclear));
        assert_eq!(of([text("x"), text("2"), text("open")]), Some(Glance::Unclear));
        assert_eq!(shown(Ok(Value::Nil)), Some(Glance::Unclear));
        let away = StoreError::Unavailable {
            what: "a pipeline".to_owned(),
            cause: "a test".to_owned(),
        };
        assert_eq!(shown(Err(away)), None);
    }
}
