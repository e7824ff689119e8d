//! Payouts, newest first, and one by its id.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::money::Minor;
use jackpot_core::text::storable;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use crate::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use crate::ledger::queries::scans::Scans;
use crate::ledger::queries::{Between, Key, LedgerError, Listing, Queries, Value};

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

/// The filters of a list of payouts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PayoutFilters {
    pub jackpot_id: Option<Id>,
    /// Only these jackpots, when `jackpot_id` is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<Id>>,
    pub player_id: Option<Id>,
    pub tier: Option<Id>,
    /// When the payouts were paid.
    pub between: Between,
    /// Smallest amount.
    pub min_amount: Option<Minor>,
}

const SELECT: &str = "payout_id, jackpot_id, entry_id, player_id, tier, amount, currency, claim_order, pool_before, \
                      pool_after, paid_at_ms, history, event_id, key_id, signature";

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
            Some(only) if self.player_id.is_none() && self.jackpot_id.is_none() => {
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
        if let Some(player) = &self.player_id {
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
        if let Some(least) = self.min_amount {
            let least = i64::try_from(least.get()).expect("an amount has 53 bits");
            filters.push(("amount >=", least.into()));
        }
        Scan {
            table: "payouts".to_owned(),
            select: SELECT,
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
    ) -> Result<Page<PayoutRow>, LedgerError> {
        let scans = filters.scans().after(after.as_ref());
        self.sql.reading(scans.page(self.sql.reader(), limit, read)).await
    }

    /// One payout.
    pub async fn payout(&self, payout_id: &str) -> Result<PayoutRow, LedgerError> {
        let text = format!("SELECT {SELECT} FROM payouts WHERE payout_id = $1");
        let found = sqlx::query(sqlx::AssertSqlSafe(text)).bind(storable(payout_id).into_owned());
        let row = self.sql.reading(found.fetch_optional(self.sql.reader())).await?;
        read(&row.ok_or(LedgerError::PayoutNotFound)?)
    }
}

fn read(row: &AnyRow) -> Result<PayoutRow, LedgerError> {
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
