//! Comparisons that need not be made again: neither Redis nor the ledger has changed since one that found no difference.
//!
//! What a comparison looks at in Redis is read in pipelines, byte by byte, and its digest compared with that of the last
//! comparison. So thousands of idle subjects are compared as often as busy ones, without a script for each.

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use redis::{Cmd, Value};
use sha2::{Digest, Sha256};
use sqlx::AssertSqlSafe;

use super::Projector;
use super::lease::numbered;
use super::stream::Stream;
use crate::ledger::kind::{Kind, Verdict};
use crate::ledger::reconcile::report::Report;
use crate::store::StoreError;
use crate::subject::engine::Operated;

/// Comparisons of an unchanged subject in a row without a look at the ledger's rows.
const AT_MOST: u32 = 20;
/// One in so many of these comparisons stores its time. Each would rewrite a row only for the time.
const STORED: u32 = 5;
/// Rows of one statement.
const ROWS: usize = 100;

/// Of what Redis holds.
pub(super) type Sum = [u8; 32];

/// A comparison without a difference.
#[derive(Debug, Clone, Copy)]
pub struct Agreed {
    at: Mark,
    sum: Sum,
    /// How often it may stand for another one.
    left: u32,
}

impl Agreed {
    /// Whether it stands for one of this stream, of which Redis now has this.
    fn stands<K: Kind>(&self, stream: &Stream<K>, sum: Option<Sum>) -> bool {
        self.left > 0 && self.at == stream.mark() && sum == Some(self.sum)
    }
}

impl<K: Kind> Projector<K> {
    /// Finds which of these streams have changed since their last comparison. Returns the unchanged ones whose time is to be
    /// stored, and the changed ones, each with the sum of what Redis holds.
    pub(super) async fn same(&mut self, turn: Vec<Id>) -> (Vec<Id>, Vec<(Id, Option<Sum>)>) {
        let (mut reads, mut counts) = (Vec::new(), Vec::with_capacity(turn.len()));
        for id in &turn {
            let of_one: Vec<Cmd> = self.kind.registry().known(id).compared();
            counts.push(of_one.len());
            reads.extend(of_one);
        }
        let mut answers = self.store.read_together(&reads).await.into_iter();
        let (mut same, mut others) = (Vec::new(), Vec::new());
        for (id, count) in turn.into_iter().zip(counts) {
            let sum = sum(answers.by_ref().take(count));
            let Some(stream) = self.streams.get_mut(&id) else {
                continue;
            };
            match stream.agreed {
                Some(agreed) if agreed.stands(stream, sum) => {
                    let left = agreed.left - 1;
                    stream.agreed = Some(Agreed { left, ..agreed });
                    if left.is_multiple_of(STORED) {
                        same.push(id);
                    }
                }
                _ => {
                    stream.agreed = None;
                    others.push((id, sum));
                }
            }
        }
        (same, others)
    }

    /// Remembers a comparison that found no difference and has no consequence. `sum`: from before it.
    pub(super) fn agreed(&mut self, id: &Id, sum: Option<Sum>, report: &Report) {
        let (Some(stream), Some(sum)) = (self.streams.get_mut(id), sum) else {
            return;
        };
        if report.clean && !stream.is_stopped() && K::verdict(&stream.books) == Verdict::Stays {
            stream.agreed = Some(Agreed {
                at: stream.mark(),
                sum,
                left: AT_MOST,
            });
        }
    }

    /// Stores when they were compared.
    pub(super) async fn save_same(&self, same: &[Id]) -> Result<(), sqlx::Error> {
        let Some((_, now_ms)) = self.store.clocks().await.into_iter().next() else {
            return Ok(());
        };
        let saving = async {
            let mut tx = self.ledger.sql.begin().await?;
            for ids in same.chunks(ROWS) {
                let text = format!(
                    "UPDATE reconciliations SET at_ms = $1 WHERE kind = '{}' AND clean = 1 AND at_ms < $1 AND id IN ({})",
                    K::NAME.as_str(),
                    numbered(2, ids.len()),
                );
                let update = sqlx::query(AssertSqlSafe(text)).bind(now_ms);
                let update = ids.iter().fold(update, |update, id| update.bind(id.as_str()));
                update.execute(&mut *tx).await?;
            }
            tx.commit().await
        };
        self.ledger.sql.writing(saving).await
    }
}

/// `None` when something could not be read, or nothing was.
fn sum(answers: impl Iterator<Item = Result<Value, StoreError>>) -> Option<Sum> {
    let (mut hash, mut some) = (Sha256::new(), false);
    for answer in answers {
        feed(&answer.ok()?, &mut hash)?;
        some = true;
    }
    some.then(|| hash.finalize().into())
}

/// Each value with its kind and length, so that no two answers give the same bytes.
fn feed(value: &Value, hash: &mut Sha256) -> Option<()> {
    let mut all = |kind: &str, values: &[&Value]| {
        hash.update(kind);
        hash.update((values.len() as u64).to_le_bytes());
        values.iter().try_for_each(|value| feed(value, hash))
    };
    match value {
        Value::Nil => hash.update("n"),
        Value::Int(number) => {
            hash.update("i");
            hash.update(number.to_le_bytes());
        }
        Value::BulkString(bytes) => {
            hash.update("b");
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        Value::Array(values) => all("a", &values.iter().collect::<Vec<_>>())?,
        Value::Map(pairs) => all(
            "m",
            &pairs.iter().flat_map(|(key, value)| [key, value]).collect::<Vec<_>>(),
        )?,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_every_value_and_its_place() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let of = |values: Vec<Value>| sum(values.into_iter().map(Ok));
        let list = |values: &[&str]| Value::Array(values.iter().map(|value| text(value)).collect());
        let all = [
            of(vec![list(&["ab", "c"])]),
            of(vec![list(&["a", "bc"])]),
            of(vec![list(&["ab"]), text("c")]),
            of(vec![list(&["ab"]), list(&["c"])]),
            of(vec![Value::Nil]),
            of(vec![Value::Int(1)]),
            of(vec![text("1")]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(one.is_some() && all[..i].iter().all(|other| other != one), "{i}");
        }
        assert_eq!(of(vec![list(&["ab", "c"])]), all[0]);
        assert_eq!(of(Vec::new()), None);
        assert_eq!(of(vec![Value::Okay]), None);
        let away = StoreError::OutOfMemory;
        assert_eq!(sum([Ok(Value::Nil), Err(away)].into_iter()), None);
    }
}
