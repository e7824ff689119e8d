//! The next events of a subject for a subscription, and how many there are.

use std::sync::Arc;

use jackpot_core::ids::Id;
use tokio::sync::Semaphore;

use super::subscription::Definition;
use jackpot_kernel::ledger::kinds::Kinds;
use jackpot_kernel::ledger::outgoing::{TellError, Told};
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::sql::{AtHome, Sql};
use jackpot_kernel::subject::kinds::KindName;

/// What a block holds.
const BLOCK: PageSize = PageSize {
    events: 128,
    entries: 4_000,
};

/// A place in what a subject tells: number `i` of what its event `n` tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub n: u64,
    pub i: u64,
}

/// Events of the ledger, read together.
#[derive(Debug)]
pub struct Block {
    /// What each tells, as far as it is wanted.
    pub told: Vec<Told>,
}

impl Block {
    /// Event after the last one of the block.
    pub fn next_n(&self) -> Option<u64> {
        self.told.last().map(|told| told.n + 1)
    }

    /// Drops what is before `from`.
    fn from(mut self, from: Position) -> Self {
        if let Some(first) = self.told.first_mut().filter(|first| first.n == from.n) {
            first.events.retain(|(of, _)| *of >= from.i);
        }
        self
    }
}

/// The place after number `i` of an event: in the next event if no later number is wanted. So a cursor within an event has
/// more of it to deliver.
pub fn after(told: &Told, i: u64) -> Position {
    match told.events.last() {
        Some((last, _)) if *last > i => Position { n: told.n, i: i + 1 },
        _ => Position { n: told.n + 1, i: 0 },
    }
}

/// Most reads of an instance at a time: connections are left for requests, also when thousands of subjects have news.
const READS: usize = 2;

/// Reads the outbox.
#[derive(Debug, Clone)]
pub struct Outbox {
    sql: AtHome,
    pub kinds: Kinds,
    reads: Arc<Semaphore>,
}

impl Outbox {
    pub fn new(sql: Sql, kinds: Kinds) -> Self {
        Self {
            sql: AtHome::of(sql),
            kinds,
            reads: Arc::new(Semaphore::new(READS)),
        }
    }

    /// The next events from a place on. Empty when there are none.
    pub async fn read(&self, kind: KindName, id: &Id, from: Position, of: &Definition) -> Result<Block, TellError> {
        // It is never closed.
        let _turn = self.reads.acquire().await;
        let (of_id, after) = (id.clone(), from.n.saturating_sub(1));
        let page = |sql: Sql| async move { stored::page(&sql, kind, &of_id, after, u64::MAX, BLOCK).await };
        let rows = self.sql.ask(page).await?;
        let Some(known) = self.kinds.named(kind) else {
            return Ok(Block { told: Vec::new() });
        };
        let told = known.tell(&self.sql, id, &rows, &|kind| of.wants(kind)).await?;
        Ok(Block { told }.from(from))
    }

    /// Number of the last event that the ledger has of a subject.
    pub async fn last_n(&self, kind: KindName, id: &Id) -> Result<u64, sqlx::Error> {
        let select = sqlx::query_scalar("SELECT n FROM streams WHERE kind = $1 AND id = $2")
            .bind(kind.as_str())
            .bind(id.to_string());
        let read = self
            .sql
            .ask(|sql| async move { sql.reading(select.fetch_optional(sql.reader())).await });
        let n: Option<i64> = read.await?;
        Ok(n.unwrap_or_default().unsigned_abs())
    }

    /// How many events are still to be delivered, from `from` on. `budget`: how many events of the ledger may be read; each
    /// further one counts as one.
    pub async fn lag(
        &self,
        kind: KindName,
        subject: &Id,
        mut from: Position,
        of: &Definition,
        budget: &mut u64,
    ) -> Result<u64, TellError> {
        let (last, mut lag) = (self.last_n(kind, subject).await?, 0);
        while from.n <= last && *budget > 0 {
            let block = self.read(kind, subject, from, of).await?;
            let Some(next) = block.next_n() else { break };
            lag += block.told.iter().map(|told| told.events.len() as u64).sum::<u64>();
            *budget = budget.saturating_sub(next - from.n);
            from = Position { n: next, i: 0 };
        }
        Ok(lag + (last + 1).saturating_sub(from.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_kernel::ledger::outgoing::Outgoing;

    #[test]
    fn the_place_after_the_last_wanted_number_is_the_next_event() {
        let event = |i| {
            let data = String::new();
            let kind = "payout.created";
            (i, Outgoing { kind, data })
        };
        let told = Told {
            n: 7,
            at_ms: 0,
            history: String::new(),
            events: vec![event(1), event(3)],
        };
        assert_eq!(
            [1, 3].map(|i| after(&told, i)),
            [Position { n: 7, i: 2 }, Position { n: 8, i: 0 }]
        );
    }
}
