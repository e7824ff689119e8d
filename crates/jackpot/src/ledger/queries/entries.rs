//! The entries of a player or of a source, newest first, from the daily index tables.

use std::collections::HashMap;

use jackpot_api::entry::{CouponBody, EntryRow, Outcome, PrizeName};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::derived::draw_request;
use jackpot_core::jackpot::document::{Document, Prize};
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::days::Day;
use super::payouts::{id, within};
use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use jackpot_kernel::ledger::queries::{Between, Key, LedgerError, Listing, Value, json};

/// Most days that one page looks through. A player who has not played for long gets an empty page with a cursor.
/// Otherwise a page could run a statement for each day of ten years.
const MAX_DAYS: u32 = 31;

/// The filters of a list of entries. They name a player, or a jackpot and a source.
#[derive(Debug, Clone, Serialize)]
pub struct EntryFilters {
    pub player_id: Option<PersonId>,
    pub jackpot_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id>,
    /// Only these jackpots, when `jackpot_id` is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<Id>>,
    /// When the entries were taken.
    pub between: Between,
}

/// Definitions by jackpot and version: they define the prize of each rank.
type Definitions = HashMap<(String, i64), Document>;

impl EntryFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("entries", self, Key::before_id(0))
    }

    /// The range that a page reads of a daily table, or of the entries of a source. `None` if neither is named.
    pub fn scan(&self, table: String) -> Option<Scan> {
        let named = (&self.player_id, &self.jackpot_id, &self.source_id);
        match named {
            (Some(player), ..) => Some(self.scan_of_player(table, player)),
            (None, Some(jackpot), Some(source)) => Some(self.scan_of_source(jackpot, source)),
            (None, ..) => None,
        }
    }

    fn scan_of_source(&self, jackpot: &Id, source: &Id) -> Scan {
        Scan {
            table: "source_entries".to_owned(),
            select: "jackpot_id, source_id, at_ms, sequence, player_id",
            index: &["jackpot_id", "source_id", "at_ms", "sequence"],
            fixed: vec![("jackpot_id", jackpot.into()), ("source_id", source.into())],
            key: ["at_ms", "jackpot_id", "sequence"],
            order: Order::NewestFirst,
            low: Key::before_id(self.between.from_ms()),
            high: Key::before_id(self.between.to_ms()),
            filters: Vec::new(),
            within: None,
            scanned: MAX_SCANNED,
        }
    }

    fn scan_of_player(&self, table: String, player: &PersonId) -> Scan {
        const SOURCE: &str = "(SELECT s.source_id FROM source_entries AS s \
                              WHERE s.jackpot_id = looked_at.jackpot_id AND s.sequence = looked_at.sequence) =";
        let of_jackpot = self.jackpot_id.as_ref().map(|id| ("jackpot_id =", Value::from(id)));
        let of_source = self.source_id.as_ref().map(|id| (SOURCE, Value::from(id)));
        Scan {
            table,
            select: "player_id, at_ms, jackpot_id, sequence, entry_id, stake, client_seed, n, epoch, version, rank, settled",
            index: &["player_id", "at_ms", "jackpot_id", "sequence"],
            fixed: vec![("player_id", player.into())],
            key: ["at_ms", "jackpot_id", "sequence"],
            order: Order::NewestFirst,
            low: Key::before_id(self.between.from_ms()),
            high: Key::before_id(self.between.to_ms()),
            filters: of_jackpot.into_iter().chain(of_source).collect(),
            within: within(self.jackpot_id.as_ref(), self.only.as_deref()),
            scanned: MAX_SCANNED,
        }
    }
}

impl Queries {
    /// Returns an error when this service keeps no index of entries by player.
    pub fn expect_entry_index(&self) -> Result<(), LedgerError> {
        if self.entry_index_days == 0 {
            return Err(LedgerError::EntryIndexOff);
        }
        Ok(())
    }

    /// Whether entries of this jackpot won coupons: their codes are in its events.
    pub async fn gave_coupons(&self, id: &Id) -> Result<bool, LedgerError> {
        let one =
            sqlx::query_scalar("SELECT sequence FROM coupon_prizes WHERE jackpot_id = $1 LIMIT 1").bind(id.to_string());
        let found: Option<i64> = self.sql.reading(one.fetch_optional(self.sql.reader())).await?;
        Ok(found.is_some())
    }

    /// A page of the entries of a player or a source, newest first. Entries stay listed for `ledger.entry_index_days`.
    pub async fn entries(
        &self,
        filters: &EntryFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<EntryRow>, LedgerError> {
        self.expect_entry_index()?;
        if filters.only.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Page {
                items: Vec::new(),
                next: None,
            });
        }
        self.sql.reading(self.entries_of_days(filters, after, limit)).await
    }

    async fn entries_of_days(
        &self,
        filters: &EntryFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<EntryRow>, LedgerError> {
        let first = Day::of(filters.between.from_ms());
        let last = Day::of(after.as_ref().map_or(filters.between.to_ms(), Key::at_ms));
        let days = self.days(&first, &last, MAX_DAYS + 1).await?;
        let mut items = Vec::new();
        let mut definitions = Definitions::new();
        for (searched, day) in days.iter().enumerate() {
            let left = limit - u32::try_from(items.len()).unwrap_or(limit);
            if left == 0 || searched == MAX_DAYS as usize {
                let next = Some(Key::before_id(days[searched - 1].start_ms()));
                return Ok(Page { items, next });
            }
            let Some(mut scan) = filters.scan(day.table()) else {
                break;
            };
            if filters.player_id.is_none() {
                // The entries of a source are in one table: this page looks for those of this day.
                let (begin, end) = (Key::before_id(day.start_ms()), Key::before_id(day.end_ms()));
                if scan.low.0 < begin.0 {
                    scan.low = begin;
                }
                if scan.high.0 > end.0 {
                    scan.high = end;
                }
            }
            let high = scan.high.0.clone();
            scan.go_on(after.clone().filter(|after| after.0 < high));
            let page = self.entries_of_day(day, scan, left, &mut definitions).await?;
            items.extend(page.items);
            if page.next.is_some() {
                return Ok(Page { items, next: page.next });
            }
        }
        Ok(Page { items, next: None })
    }

    async fn entries_of_day(
        &self,
        day: &Day,
        mut scan: Scan,
        limit: u32,
        definitions: &mut Definitions,
    ) -> Result<Page<EntryRow>, LedgerError> {
        let rows = async {
            let boundary = scan.bound(self.sql.reader()).await?;
            let rows = with_prizes(&scan, &day.table(), limit + 1)
                .query()
                .fetch_all(self.sql.reader())
                .await?;
            Ok::<_, LedgerError>((boundary, rows))
        };
        let (boundary, rows) = match rows.await {
            // The day has just expired, and its table is gone.
            Err(LedgerError::Sql(sqlx::Error::Database(_))) if !self.has_day(day).await? => (None, Vec::new()),
            other => other?,
        };
        for row in &rows {
            self.remember_definition(row, definitions).await?;
        }
        scan.cut(&rows, limit, boundary, |row| read(row, definitions))
    }

    async fn remember_definition(&self, row: &AnyRow, definitions: &mut Definitions) -> Result<(), LedgerError> {
        let (jackpot, version): (String, i64) = (row.try_get("jackpot_id")?, row.try_get("version")?);
        let key = (jackpot.clone(), version);
        if row.try_get::<i64, _>("rank")? == 0 || definitions.contains_key(&key) {
            return Ok(());
        }
        let found: Option<String> =
            sqlx::query_scalar("SELECT json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND version = $2")
                .bind(jackpot)
                .bind(version)
                .fetch_optional(self.sql.reader())
                .await?;
        let what = || format!("definition {version} of jackpot '{}'", key.0);
        let text = found.ok_or_else(|| LedgerError::Missing(what()))?;
        let document = json(&text, what)?;
        definitions.insert(key, document);
        Ok(())
    }
}

/// The rows of a page, each with what it won. The page is cut first, so that prizes are looked up only for its rows.
fn with_prizes(scan: &Scan, day: &str, limit: u32) -> jackpot_kernel::ledger::queries::scan::Statement {
    let mut page = scan.rows(limit);
    if scan.table != day {
        page.text = format!(
            "SELECT d.* FROM ({}) AS s JOIN {day} AS d ON d.player_id = s.player_id AND d.at_ms = s.at_ms \
             AND d.jackpot_id = s.jackpot_id AND d.sequence = s.sequence",
            page.text
        );
    }
    page.text = format!(
        "SELECT e.*, COALESCE(p.payout_id, '') AS payout_id, COALESCE(p.tier, '') AS tier, \
         COALESCE(p.amount, 0) AS amount, COALESCE(p.claim_order, 0) AS claim_order, \
         COALESCE(c.coupon_id, '') AS coupon_id, COALESCE(c.coupon_sequence, 0) AS coupon_sequence, \
         COALESCE(c.code, '') AS code, COALESCE(q.source_id, '') AS source_id FROM ({}) AS e \
         LEFT JOIN source_entries AS q ON q.jackpot_id = e.jackpot_id AND q.sequence = e.sequence \
         LEFT JOIN payouts AS p ON e.settled = 1 AND p.jackpot_id = e.jackpot_id AND p.sequence = e.sequence \
         LEFT JOIN coupon_prizes AS c ON e.rank > 0 AND c.jackpot_id = e.jackpot_id AND c.sequence = e.sequence \
         ORDER BY e.at_ms DESC, e.jackpot_id DESC, e.sequence DESC",
        page.text
    );
    page
}

fn read(row: &AnyRow, definitions: &Definitions) -> Result<EntryRow, LedgerError> {
    let (jackpot_id, n): (String, i64) = (row.try_get("jackpot_id")?, row.try_get("n")?);
    let definition_version = row.try_get("version")?;
    let settled = row.try_get::<i64, _>("settled")? == 1;
    let (seed, source): (String, String) = (row.try_get("client_seed")?, row.try_get("source_id")?);
    let definition = definitions.get(&(jackpot_id.clone(), definition_version));
    Ok(EntryRow {
        entry_id: row.try_get("entry_id")?,
        player_id: row.try_get("player_id")?,
        sequence: row.try_get("sequence")?,
        stake: row.try_get("stake")?,
        client_seed: (!seed.is_empty()).then_some(seed),
        source_id: (!source.is_empty()).then_some(source),
        entered_at: rfc3339(row.try_get("at_ms")?),
        event_id: format!("{jackpot_id}:{n}"),
        jackpot_id,
        epoch: row.try_get("epoch")?,
        definition_version,
        settled,
        outcome: settled.then(|| outcome(row, definition)).transpose()?,
    })
}

fn outcome(row: &AnyRow, definition: Option<&Document>) -> Result<Outcome, LedgerError> {
    let rank: i64 = row.try_get("rank")?;
    let unsigned = |name| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    let payout_id: String = row.try_get("payout_id")?;
    let paid = !payout_id.is_empty();
    // A must-hit has rank 0, which is in no table of odds.
    let undrawn = if paid { PrizeName::MustHit } else { PrizeName::None };
    let prize = definition
        .and_then(|definition| definition.odds.ranks.iter().find(|r| i64::from(r.rank) == rank))
        .map_or(undrawn, |rank| match rank.prize {
            Prize::Pool(_) => PrizeName::Pool,
            Prize::Fixed(_) => PrizeName::Fixed,
            Prize::Coupon(_) => PrizeName::Coupon,
        });
    Ok(Outcome {
        rank: u32::try_from(rank).map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        prize,
        tier: if paid { Some(id(row, "tier")?) } else { None },
        amount: if paid { Some(unsigned("amount")?) } else { None },
        claim_order: if paid { Some(unsigned("claim_order")?) } else { None },
        payout_id: paid.then_some(payout_id),
        coupon: coupon(row)?,
    })
}

fn coupon(row: &AnyRow) -> Result<Option<CouponBody>, LedgerError> {
    if row.try_get::<&str, _>("coupon_id")?.is_empty() {
        return Ok(None);
    }
    let (jackpot, entry): (String, String) = (row.try_get("jackpot_id")?, row.try_get("entry_id")?);
    Ok(Some(CouponBody {
        coupon_id: id(row, "coupon_id")?,
        request_id: draw_request(&jackpot, &entry, row.try_get::<i64, _>("epoch")?.unsigned_abs()),
        sequence: row.try_get::<i64, _>("coupon_sequence")?.unsigned_abs(),
        code: Some(row.try_get("code")?),
    }))
}
