//! Payouts, newest first, and one by its id.

use std::collections::BTreeMap;

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::money::Minor;
use jackpot_core::text::storable;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use super::sources::{Listed, matching};
use crate::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use crate::ledger::queries::scans::Scans;
use crate::ledger::queries::{Between, Key, LedgerError, Listing, Queries, Value};
use crate::sql::Sql;

/// The receipt of a payout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PayoutRow {
    /// Made by the service.
    #[schema(example = "5d0b1c9f7a3e42d6b8a1c07e94f2d358")]
    pub payout_id: String,
    /// Which jackpot paid.
    #[schema(example = "spring")]
    pub jackpot_id: String,
    /// For which entry.
    #[schema(example = "round-8812-p7")]
    pub entry_id: String,
    /// To whom.
    #[schema(example = "p7")]
    pub player_id: String,
    /// Out of which tier.
    #[schema(example = "grand")]
    pub tier: String,
    /// Minor units.
    #[schema(example = 18_811)]
    pub amount: i64,
    /// ISO 4217.
    #[schema(example = "KRW")]
    pub currency: String,
    /// Number of the paid claim within the jackpot, from 1.
    #[schema(example = 4)]
    pub claim_order: i64,
    /// What the pool held before, minor units.
    #[schema(example = 18_811)]
    pub pool_before: i64,
    /// What it held after, before it was seeded again.
    #[schema(example = 0)]
    pub pool_after: i64,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub paid_at: String,
    /// The history in which it was paid: 16 hexadecimal digits, other ones after each restore.
    #[schema(example = "9f1c0a44d2b7e633")]
    pub history: String,
    /// Id of its event `payout.created`: `jackpot:<jackpot_id>:<history>:<n>:<i>`.
    #[schema(example = "jackpot:spring:9f1c0a44d2b7e633:8820:0")]
    pub event_id: String,
    /// The key that signed it: `/v1/keys`.
    pub key_id: String,
    /// base64url Ed25519 over the RFC 8785 form of this object without `signature`.
    pub signature: String,
}

/// A payout in a list: its receipt, and what is beside it. The signature is of the receipt alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListedPayout {
    #[serde(flatten)]
    pub receipt: PayoutRow,
    /// The source of the entry; null if it named none.
    #[schema(example = "slot-9")]
    pub source_id: Option<String>,
}

/// The filters of a list of payouts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PayoutFilters {
    pub jackpot_id: Option<Id>,
    /// Only these jackpots, when `jackpot_id` is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<Id>>,
    pub player_id: Option<Id>,
    pub tier: Option<Id>,
    /// Of entries of this source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id>,
    /// When the payouts were paid.
    pub between: Between,
    /// Smallest amount.
    pub min_amount: Option<Minor>,
}

const SELECT: &str = "payout_id, jackpot_id, entry_id, player_id, tier, amount, currency, claim_order, pool_before, \
                      pool_after, paid_at_ms, history, event_id, key_id, signature";

const SELECT_OF_SOURCE: &str = "payout_id, jackpot_id, source_id, paid_at_ms, claim_order, player_id, tier, amount";

impl PayoutFilters {
    /// The list, for its cursors.
    #[must_use]
    pub fn listing(&self) -> Listing {
        Listing::new("payouts", self, Key::before_id(0))
    }

    /// The ranges that a page reads: one for each jackpot in `only`. A player's payouts are few enough for one range.
    #[must_use]
    pub fn scans(&self) -> Scans {
        match &self.only {
            Some(only) if only.is_empty() => Scans::of(Vec::new()),
            Some(only) if self.jackpot_id.is_none() && (self.player_id.is_none() || self.source_id.is_some()) => {
                let of = |id: &Id| Self {
                    jackpot_id: Some(id.clone()),
                    ..self.clone()
                };
                Scans::of(only.iter().map(|id| of(id).scan()).collect())
            }
            _ => self.scan().into(),
        }
    }

    /// The range that a page reads. The filter that leaves the fewest rows decides the index. A player has fewer
    /// payouts than a jackpot, and a jackpot has fewer than all tiers of one name.
    ///
    /// # Panics
    /// Never: an amount fits into 63 bits.
    #[must_use]
    pub fn scan(&self) -> Scan {
        let index: &'static [&'static str];
        let mut fixed = Vec::new();
        let mut filters = Vec::new();
        let (mut jackpot, mut tier) = (self.jackpot_id.as_ref(), self.tier.as_ref());
        let (mut player, mut table, mut select) = (self.player_id.as_ref(), "payouts", SELECT);
        if let Some(source) = &self.source_id {
            (table, select) = ("source_payouts", SELECT_OF_SOURCE);
            if let Some(id) = jackpot.take() {
                index = &["jackpot_id", "source_id", "paid_at_ms", "claim_order"];
                fixed.push(("jackpot_id", id.into()));
            } else {
                index = &["source_id", "paid_at_ms", "jackpot_id", "claim_order"];
            }
            fixed.push(("source_id", source.into()));
        } else if let Some(player) = player.take() {
            index = &["player_id", "paid_at_ms", "jackpot_id", "claim_order"];
            fixed.push(("player_id", player.into()));
        } else if let Some(id) = jackpot.take() {
            index = &["jackpot_id", "paid_at_ms", "claim_order"];
            fixed.push(("jackpot_id", id.into()));
        } else if let Some(id) = tier.take() {
            index = &["tier", "paid_at_ms", "jackpot_id", "claim_order"];
            fixed.push(("tier", id.into()));
        } else {
            index = &["paid_at_ms", "jackpot_id", "claim_order"];
        }
        filters.extend(jackpot.map(|id| ("jackpot_id =", Value::from(id))));
        filters.extend(tier.map(|id| ("tier =", Value::from(id))));
        filters.extend(player.map(|id| ("player_id =", Value::from(id))));
        if let Some(least) = self.min_amount {
            let least = i64::try_from(least.get()).expect("an amount has 53 bits");
            filters.push(("amount >=", least.into()));
        }
        Scan {
            table: table.to_owned(),
            select,
            index,
            fixed,
            key: ["paid_at_ms", "jackpot_id", "claim_order"],
            order: Order::NewestFirst,
            low: Key::before_id(self.between.from_ms()),
            high: Key::before_id(self.between.to_ms()),
            filters,
            within: within(self.jackpot_id.as_ref(), self.only.as_deref()),
            scanned: MAX_SCANNED,
        }
    }
}

/// The jackpots that a list shows: all of a key's own, if the query names none.
pub(super) fn within(named: Option<&Id>, only: Option<&[Id]>) -> Option<(&'static str, Vec<Value>)> {
    let only = only.filter(|_| named.is_none())?;
    Some(("jackpot_id", only.iter().map(Value::from).collect()))
}

impl Queries {
    /// A page of payouts, newest first.
    pub async fn payouts(
        &self,
        filters: &PayoutFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<ListedPayout>, LedgerError> {
        let scans = filters.scans().after(after.as_ref());
        self.sql.reading(self.payouts_of(filters, scans, limit)).await
    }

    /// The rows of a source name their payouts; other payouts are asked for their source.
    async fn payouts_of(
        &self,
        filters: &PayoutFilters,
        scans: Scans,
        limit: u32,
    ) -> Result<Page<ListedPayout>, LedgerError> {
        let reader = self.sql.reader();
        if let Some(source) = &filters.source_id {
            let page = scans.page(reader, limit, |row| Ok(row.try_get("payout_id")?)).await?;
            let mut found = Listed::new();
            for row in matching(reader, ("payouts", SELECT), ("payout_id", &page.items)).await? {
                found.insert(row.try_get("payout_id")?, read(&row)?);
            }
            let missing = |id: &String| LedgerError::Missing(format!("payout '{id}' of source '{source}'"));
            let listed = page.items.iter().map(|id| {
                Ok(ListedPayout {
                    receipt: found.remove(id).ok_or_else(|| missing(id))?,
                    source_id: Some(source.to_string()),
                })
            });
            let items = listed.collect::<Result<_, LedgerError>>()?;
            return Ok(Page { items, next: page.next });
        }
        let page = scans.page(reader, limit, |row| Ok(read(row)?)).await?;
        // Most ledgers have no payouts of sources, and long exports need not ask for each.
        let first = sqlx::query("SELECT payout_id FROM source_payouts LIMIT 1");
        let ids = match first.fetch_optional(reader).await? {
            Some(_) => page.items.iter().map(|row| row.payout_id.clone()).collect(),
            None => Vec::new(),
        };
        let mut sources = Listed::new();
        for row in matching(reader, ("source_payouts", "payout_id, source_id"), ("payout_id", &ids)).await? {
            sources.insert(row.try_get("payout_id")?, row.try_get("source_id")?);
        }
        let listed = page.items.into_iter().map(|receipt| ListedPayout {
            source_id: sources.remove(&receipt.payout_id),
            receipt,
        });
        Ok(Page {
            items: listed.collect(),
            next: page.next,
        })
    }

    /// One payout.
    pub async fn payout(&self, payout_id: &str) -> Result<PayoutRow, LedgerError> {
        let text = format!("SELECT {SELECT} FROM payouts WHERE payout_id = $1");
        let found = sqlx::query(sqlx::AssertSqlSafe(text)).bind(storable(payout_id).into_owned());
        let row = self.sql.reading(found.fetch_optional(self.sql.reader())).await?;
        Ok(read(&row.ok_or(LedgerError::PayoutNotFound)?)?)
    }
}

/// The receipts of a jackpot whose claims have these orders, from the first to the last.
pub async fn receipts(
    sql: &Sql,
    jackpot: &Id,
    (first, last): (u64, u64),
) -> Result<BTreeMap<u64, PayoutRow>, sqlx::Error> {
    let text = format!(
        "SELECT {SELECT} FROM payouts WHERE jackpot_id = $1 AND claim_order >= $2 AND claim_order <= $3 ORDER BY claim_order"
    );
    let order = |order: u64| i64::try_from(order).unwrap_or(i64::MAX);
    let select = sqlx::query(sqlx::AssertSqlSafe(text))
        .bind(jackpot.as_str())
        .bind(order(first))
        .bind(order(last));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let rows = rows
        .iter()
        .map(|row| read(row).map(|row| (row.claim_order.unsigned_abs(), row)));
    rows.collect()
}

fn read(row: &AnyRow) -> Result<PayoutRow, sqlx::Error> {
    Ok(PayoutRow {
        payout_id: row.try_get("payout_id")?,
        jackpot_id: row.try_get("jackpot_id")?,
        entry_id: row.try_get("entry_id")?,
        player_id: row.try_get("player_id")?,
        tier: row.try_get("tier")?,
        amount: row.try_get("amount")?,
        currency: row.try_get("currency")?,
        claim_order: row.try_get("claim_order")?,
        pool_before: row.try_get("pool_before")?,
        pool_after: row.try_get("pool_after")?,
        paid_at: rfc3339(row.try_get("paid_at_ms")?),
        history: row.try_get("history")?,
        event_id: row.try_get("event_id")?,
        key_id: row.try_get("key_id")?,
        signature: row.try_get("signature")?,
    })
}
