//! The postings of a jackpot, oldest first.

use jackpot_api::ledger::PostingRow;
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::Serialize;
use sqlx::Row;

use crate::ledger::postings::{Posting, parse};
use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::{Page, Statement};
use jackpot_kernel::ledger::queries::{Between, Key, LedgerError, Listing, Value};

/// The filters of a list of postings.
#[derive(Debug, Clone, Serialize)]
pub struct PostingFilters {
    pub jackpot_id: Id,
    /// Only what this source brought and won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id>,
    /// When the postings were booked.
    pub between: Between,
}

impl PostingFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("ledger", self, Key::before_number(0))
    }

    /// The events of a page: a range of one index, as [`Scan`](jackpot_kernel::ledger::queries::scan::Scan) reads it.
    pub fn events(&self, after: Option<&Key>, limit: u32) -> Statement {
        let [at_ms, n, _] = after.map_or_else(|| Key::before_number(self.between.from_ms()).0, |key| key.0.clone());
        let id = Value::from(&self.jackpot_id);
        if let Some(source) = &self.source_id {
            let text = format!(
                "SELECT at_ms, n, moved FROM source_postings WHERE (jackpot_id, source_id, at_ms, n) >= ($1, $2, $3, $4) \
                 AND (jackpot_id, source_id, at_ms, n) < ($5, $6, $7, $8) ORDER BY jackpot_id, source_id, at_ms, n LIMIT {limit}"
            );
            let source = Value::from(source);
            let to = [id.clone(), source.clone(), self.between.to_ms().into(), 0.into()];
            let values = [[id, source, at_ms, n], to].concat();
            return Statement { text, values };
        }
        // The event of the cursor is read again: the page may go on within it.
        let text = format!(
            "SELECT at_ms, n, moved FROM events WHERE moved <> '' AND (id, at_ms, n) >= ($1, $2, $3) \
             AND (id, at_ms, n) < ($4, $5, $6) ORDER BY id, at_ms, n LIMIT {limit}"
        );
        Statement {
            text,
            values: vec![id.clone(), at_ms, n, id, self.between.to_ms().into(), 0.into()],
        }
    }
}

impl Queries {
    /// A page of a jackpot's postings, oldest first.
    pub async fn postings(
        &self,
        filters: &PostingFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<PostingRow>, LedgerError> {
        // Each event has a posting or more, but the first may have none after the cursor. One row more says whether the
        // list goes on.
        let events = filters.events(after.as_ref(), limit.saturating_add(2)).query();
        let events = self.sql.reading(events.fetch_all(self.sql.reader())).await?;
        let (limit, mut items, mut last) = (limit as usize, Vec::new(), None);
        for event in &events {
            let (at_ms, n): (i64, i64) = (event.try_get("at_ms")?, event.try_get("n")?);
            let unreadable = || LedgerError::Missing(format!("readable postings of event {}:{n}", filters.jackpot_id));
            let postings = parse(event.try_get("moved")?).ok_or_else(unreadable)?;
            for (line, posting) in (0..).zip(&postings) {
                let key = Key([at_ms.into(), n.into(), line.into()]);
                if after.as_ref().is_some_and(|after| key.0 <= after.0) {
                    continue;
                }
                if items.len() == limit {
                    return Ok(Page { items, next: last });
                }
                items.push(row(&filters.jackpot_id, at_ms, n, line, posting));
                last = Some(key);
            }
        }
        Ok(Page { items, next: None })
    }

    /// Returns an error for a jackpot that the ledger does not know.
    pub async fn expect_jackpot(&self, id: &Id) -> Result<(), LedgerError> {
        let found = sqlx::query_scalar("SELECT n FROM streams WHERE kind = 'jackpot' AND id = $1").bind(id.to_string());
        let found: Option<i64> = self.sql.reading(found.fetch_optional(self.sql.reader())).await?;
        found
            .map(drop)
            .ok_or_else(|| LedgerError::JackpotNotFound(id.to_string()))
    }
}

fn row(jackpot: &Id, at_ms: i64, n: i64, line: i64, posting: &Posting) -> PostingRow {
    PostingRow {
        n,
        event_id: format!("{jackpot}:{n}"),
        line,
        at: rfc3339(at_ms),
        tier: posting.tier.to_string(),
        account: posting.account.as_str().to_owned(),
        amount: posting.amount,
        micro: posting.micro,
    }
}
