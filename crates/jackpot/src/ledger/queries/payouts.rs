//! Payouts, newest first, and one by its id.

use std::collections::BTreeMap;

use jackpot_api::payout::{ListedPayout, Payout, PayoutStepRow};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::settlement::{Attempt, Ended, PayoutState, Standing, State};
use jackpot_core::money::Minor;
use jackpot_core::receipt::{Receipt, VOID, VoidReceipt};
use jackpot_core::text::storable;
use jackpot_core::wire::Field;
use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::sources::{Listed, matching};
use crate::ledger::carried::Carried;
use crate::ledger::event::PayoutStep;
use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::{MAX_SCANNED, Order, Page, Scan};
use jackpot_kernel::ledger::queries::scans::Scans;
use jackpot_kernel::ledger::queries::{Between, Key, LedgerError, Listing, Value};
use jackpot_kernel::ledger::skipped;
use jackpot_kernel::sql::{Sql, int};

/// Most steps of an answer: an operator may report a failure again and again.
const MAX_STEPS: i64 = 1_000;

/// Longest payout id, in characters: longer ids are not ours.
pub const MAX_PAYOUT_ID_CHARS: usize = 200;

/// The filters of a list of payouts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PayoutFilters {
    pub jackpot_id: Option<Id>,
    /// Only these jackpots, when `jackpot_id` is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<Id>>,
    pub player_id: Option<PersonId>,
    /// This one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payout_id: Option<String>,
    /// Of the entries with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<String>,
    pub tier: Option<Id>,
    /// Of entries of this source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id>,
    /// In this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PayoutState>,
    /// When the payouts were paid.
    pub between: Between,
    /// Smallest amount.
    pub min_amount: Option<Minor>,
}

const SELECT: &str = "payout_id, jackpot_id, entry_id, player_id, tier, amount, currency, claim_order, pool_before, \
                      pool_after, paid_at_ms, history, event_id, key_id, signature";

const SELECT_OF_SOURCE: &str = "payout_id, jackpot_id, source_id, paid_at_ms, claim_order, player_id, tier, amount";

/// The columns of `payout_states` that lists filter by.
const SELECT_OF_STATE: &str =
    "payout_id, jackpot_id, source_id, paid_at_ms, claim_order, player_id, tier, amount, state";

/// The columns of `payout_states` that a row shows.
const SELECT_STANDING: &str = "payout_id, jackpot_id, tier, amount, first_state, state, state_n, approved_by, approver, attempt, \
                                          settlement_id, attempt_text, attempt_ms, asked, voided_ms, void_key_id, \
                                          void_signature";

/// Of a row that a page looked at: how many rows `payout_states` has for it.
const TRACKED: &str = "(SELECT COUNT(*) FROM payout_states WHERE payout_states.payout_id = looked_at.payout_id) =";

impl PayoutFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("payouts", self, Key::before_id(0))
    }

    /// The ranges that a page reads: one for each jackpot in `only`. A player's payouts are few enough for one range.
    pub fn scans(&self) -> Scans {
        match &self.only {
            Some(only) if only.is_empty() => Scans::of(Vec::new()),
            Some(only)
                if self.jackpot_id.is_none()
                    && (self.player_id.is_none() || self.source_id.is_some() || self.tracked().is_some()) =>
            {
                let of = |id: &Id| Self {
                    jackpot_id: Some(id.clone()),
                    ..self.clone()
                };
                Scans::of(only.iter().map(|id| of(id).scan()).collect())
            }
            _ => self.scan().into(),
        }
    }

    /// Whether a payout is one of those. The time is written so that it sorts as text.
    fn fits(&self, payout: &ListedPayout) -> bool {
        let of = |id: &Option<Id>, is: &Id| id.as_ref().is_none_or(|id| id == is);
        let row = &payout.receipt;
        let (from, to) = (self.between.from.map(rfc3339), self.between.to.map(rfc3339));
        (self.jackpot_id.is_some() || self.only.as_ref().is_none_or(|own| own.contains(&row.jackpot_id)))
            && of(&self.jackpot_id, &row.jackpot_id)
            && of(&self.tier, &row.tier)
            && self.player_id.as_ref().is_none_or(|id| *id == row.player_id)
            && self.entry_id.as_ref().is_none_or(|id| *id == row.entry_id)
            && self.state.is_none_or(|state| state == payout.state)
            && (self.source_id.is_none() || self.source_id.as_ref().map(Id::as_str) == payout.source_id.as_deref())
            && from.is_none_or(|from| from <= row.paid_at)
            && to.is_none_or(|to| row.paid_at < to)
            && self.min_amount.is_none_or(|least| row.amount >= least)
    }

    fn tracked(&self) -> Option<State> {
        self.state.and_then(PayoutState::tracked)
    }

    /// The range that a page reads. The filter that leaves the fewest rows decides the index. A player has fewer
    /// payouts than a jackpot, and a jackpot has fewer than all tiers of one name.
    ///
    /// # Panics
    /// Never: an amount fits into 63 bits.
    pub fn scan(&self) -> Scan {
        let index: &'static [&'static str];
        let mut fixed = Vec::new();
        let mut filters = Vec::new();
        let (mut jackpot, mut tier) = (self.jackpot_id.as_ref(), self.tier.as_ref());
        let (mut player, mut table, mut select) = (self.player_id.as_ref(), "payouts", SELECT);
        if let Some(state) = self.tracked() {
            (table, select) = ("payout_states", SELECT_OF_STATE);
            if let Some(id) = jackpot.take() {
                index = &["jackpot_id", "state", "paid_at_ms", "claim_order"];
                fixed.push(("jackpot_id", id.into()));
            } else {
                index = &["state", "paid_at_ms", "jackpot_id", "claim_order"];
            }
            fixed.push(("state", Value::Text(state.as_str().to_owned())));
            filters.extend(self.source_id.iter().map(|id| ("source_id =", Value::from(id))));
        } else if let Some(source) = &self.source_id {
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
        if table == "payouts" {
            filters.extend(self.entry_id.iter().map(|id| ("entry_id =", Value::Text(id.clone()))));
        }
        if self.state == Some(PayoutState::Paid) {
            filters.push((TRACKED, 0.into()));
        }
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
        if let Some(payout_id) = &filters.payout_id {
            let items = match self.listed_payout(payout_id).await {
                Ok(payout) if filters.fits(&payout) => vec![payout],
                Ok(_) | Err(LedgerError::PayoutNotFound) => Vec::new(),
                Err(error) => return Err(error),
            };
            return Ok(Page { items, next: None });
        }
        let scans = filters.scans().after(after.as_ref());
        self.sql.reading(self.payouts_of(filters, scans, limit)).await
    }

    /// The rows of a source or a state name their payouts; other payouts are asked for theirs.
    async fn payouts_of(
        &self,
        filters: &PayoutFilters,
        scans: Scans,
        limit: u32,
    ) -> Result<Page<ListedPayout>, LedgerError> {
        let reader = self.sql.reader();
        let (receipts, next) = if filters.source_id.is_some() || filters.tracked().is_some() {
            let page = scans.page(reader, limit, |row| Ok(row.try_get("payout_id")?)).await?;
            (self.receipts(&page.items).await?, page.next)
        } else {
            let page = scans.page(reader, limit, |row| Ok(read(row)?)).await?;
            (page.items, page.next)
        };
        let ids: Vec<_> = receipts.iter().map(|row| row.payout_id.clone()).collect();
        let mut sources = Listed::new();
        for row in self.beside("source_payouts", "payout_id, source_id", &ids).await? {
            sources.insert(row.try_get("payout_id")?, row.try_get("source_id")?);
        }
        let mut states = Listed::new();
        for row in self.beside("payout_states", SELECT_STANDING, &ids).await? {
            states.insert(row.try_get("payout_id")?, row);
        }
        let mut items = Vec::with_capacity(receipts.len());
        for receipt in receipts {
            let source_id = sources.remove(&receipt.payout_id);
            let listed = listed(source_id, states.get(&receipt.payout_id), receipt)?;
            // Its state may have changed since the page was read, whose index may have no entries.
            if filters.fits(&listed) {
                items.push(listed);
            }
        }
        Ok(Page { items, next })
    }

    /// The receipts with these ids, in this order.
    async fn receipts(&self, ids: &[String]) -> Result<Vec<Receipt>, LedgerError> {
        let mut found = Listed::new();
        for row in matching(self.sql.reader(), "payouts", SELECT, "payout_id", ids).await? {
            found.insert(row.try_get("payout_id")?, read(&row)?);
        }
        let missing = |id: &String| LedgerError::Missing(format!("payout '{id}', which a list names"));
        ids.iter()
            .map(|id| found.remove(id).ok_or_else(|| missing(id)))
            .collect()
    }

    /// The rows of a table of only some payouts. Most ledgers have none, and long exports need not ask for each.
    async fn beside(&self, table: &str, select: &str, ids: &[String]) -> Result<Vec<AnyRow>, LedgerError> {
        let reader = self.sql.reader();
        let any = format!("SELECT payout_id FROM {table} LIMIT 1");
        let any = sqlx::query(sqlx::AssertSqlSafe(any)).fetch_optional(reader).await?;
        match any {
            Some(_) => matching(reader, table, select, "payout_id", ids).await,
            None => Ok(Vec::new()),
        }
    }

    /// One payout as lists have it.
    pub async fn listed_payout(&self, payout_id: &str) -> Result<ListedPayout, LedgerError> {
        Ok(self.payout_and_state(payout_id).await?.0)
    }

    /// One payout with its steps.
    pub async fn whole_payout(&self, payout_id: &str) -> Result<Payout, LedgerError> {
        let (payout, state) = self.payout_and_state(payout_id).await?;
        let mut steps = vec![PayoutStepRow {
            state: PayoutState::Paid,
            who: None,
            owner: None,
            at: payout.receipt.paid_at.clone(),
            reason: None,
        }];
        if let Some(row) = state {
            let first: String = row.try_get("first_state")?;
            let unreadable = || LedgerError::Missing(format!("a readable first state of payout '{payout_id}'"));
            steps[0].state = State::read(&first).ok_or_else(unreadable)?.into();
            steps.extend(self.steps_of(&payout.receipt, row.try_get("state_n")?).await?);
        }
        Ok(Payout { payout, steps })
    }

    /// The steps of a tracked payout up to the event `last`, which its row shows.
    async fn steps_of(&self, of: &Receipt, last: i64) -> Result<Vec<PayoutStepRow>, LedgerError> {
        let select = sqlx::query(
            "SELECT e.at_ms AS at_ms, e.body AS body FROM payout_steps s \
             JOIN events e ON e.kind = 'jackpot' AND e.id = s.jackpot_id AND e.n = s.n \
             WHERE s.payout_id = $1 AND s.n <= $2 ORDER BY s.n DESC LIMIT $3",
        );
        let select = select.bind(of.payout_id.clone()).bind(last).bind(MAX_STEPS);
        let rows = self.sql.reading(select.fetch_all(self.sql.reader())).await?;
        rows.iter().rev().map(|row| step_row(row, of)).collect()
    }

    async fn payout_and_state(&self, payout_id: &str) -> Result<(ListedPayout, Option<AnyRow>), LedgerError> {
        let receipt = self.payout(payout_id).await?;
        let ids = [receipt.payout_id.clone()];
        let (sources, states) = (
            self.beside("source_payouts", "payout_id, source_id", &ids),
            self.beside("payout_states", SELECT_STANDING, &ids),
        );
        let sources = self.sql.reading(sources).await?;
        let state = self.sql.reading(states).await?.pop();
        let source_id = sources.first().map(|row| row.try_get("source_id")).transpose()?;
        Ok((listed(source_id, state.as_ref(), receipt)?, state))
    }

    /// One payout.
    pub async fn payout(&self, payout_id: &str) -> Result<Receipt, LedgerError> {
        let text = format!("SELECT {SELECT} FROM payouts WHERE payout_id = $1");
        let found = sqlx::query(sqlx::AssertSqlSafe(text)).bind(storable(payout_id).into_owned());
        let row = self.sql.reading(found.fetch_optional(self.sql.reader())).await?;
        Ok(read(&row.ok_or(LedgerError::PayoutNotFound)?)?)
    }
}

/// The step of an event, which may be one that was skipped.
fn step_row(row: &AnyRow, of: &Receipt) -> Result<PayoutStepRow, LedgerError> {
    let unreadable = || LedgerError::Missing(format!("a readable step of payout '{}'", of.payout_id));
    let body: String = row.try_get("body")?;
    let mut fields: BTreeMap<String, String> = serde_json::from_str(&body).map_err(|_| unreadable())?;
    if let Some(carried) = fields
        .get("carried")
        .filter(|_| fields.get("type").is_some_and(|kind| kind == skipped::TYPE))
    {
        let carried: Carried = serde_json::from_str(carried).map_err(|_| unreadable())?;
        fields = carried.step.ok_or_else(unreadable)?;
    }
    let step = PayoutStep::of_fields(&(&fields).into()).ok_or_else(unreadable)?;
    Ok(PayoutStepRow {
        state: step.after.into(),
        who: fields.remove("who"),
        owner: Some(step.owner),
        at: rfc3339(row.try_get("at_ms")?),
        reason: fields.remove("reason"),
    })
}

/// A receipt with what is beside it. `state`: its row in `payout_states`.
fn listed(source_id: Option<String>, state: Option<&AnyRow>, receipt: Receipt) -> Result<ListedPayout, LedgerError> {
    let Some(row) = state else {
        return Ok(ListedPayout {
            receipt,
            source_id,
            state: PayoutState::Paid,
            approved_by: None,
            settlement: None,
            void_receipt: None,
        });
    };
    let now = standing(row)?;
    let signature: String = row.try_get("void_signature")?;
    let void_receipt = if signature.is_empty() {
        None
    } else {
        Some(void_receipt(row, &receipt, signature)?)
    };
    let mut listed = ListedPayout::begun(receipt, now.state, source_id);
    listed.void_receipt = void_receipt;
    Ok(listed.after(now))
}

fn void_receipt(row: &AnyRow, of: &Receipt, signature: String) -> Result<VoidReceipt, LedgerError> {
    Ok(VoidReceipt {
        kind: VOID.to_owned(),
        payout_id: of.payout_id.clone(),
        jackpot_id: of.jackpot_id.clone(),
        tier: of.tier.clone(),
        amount: of.amount,
        voided_at: rfc3339(row.try_get("voided_ms")?),
        key_id: row.try_get("void_key_id")?,
        signature,
    })
}

/// Where a payout is, out of the columns of `payout_states`.
pub fn standing(row: &AnyRow) -> Result<Standing, LedgerError> {
    let text = |name: &str| row.try_get::<String, _>(name);
    let some = |name: &str| text(name).map(|text| Some(text).filter(|text| !text.is_empty()));
    let (state, ended) = (text("state")?, text("attempt")?);
    let unreadable = || LedgerError::Missing(format!("a readable state of a payout in place of '{state}', '{ended}'"));
    let approver = text("approver")?;
    let attempt = match Ended::read(&ended) {
        Some(ended) => Some(Attempt {
            ended,
            settlement_id: text("settlement_id")?,
            text: text("attempt_text")?,
            at_ms: row.try_get("attempt_ms")?,
        }),
        None if ended.is_empty() => None,
        None => return Err(unreadable()),
    };
    Ok(Standing {
        state: State::read(&state).ok_or_else(unreadable)?,
        approved: some("approved_by")?.map(|key| (key, approver)),
        attempt,
        asked: some("asked")?,
    })
}

/// The receipts of a jackpot whose claims have these orders, from the first to the last.
pub async fn receipts(sql: &Sql, jackpot: &Id, first: u64, last: u64) -> Result<BTreeMap<u64, Receipt>, sqlx::Error> {
    let text =
        format!("SELECT {SELECT} FROM payouts WHERE jackpot_id = $1 AND claim_order >= $2 AND claim_order <= $3");
    let select = sqlx::query(sqlx::AssertSqlSafe(text)).bind(jackpot.as_str());
    let select = select.bind(int(first)).bind(int(last));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let rows = rows.iter().map(|row| read(row).map(|row| (row.claim_order, row)));
    rows.collect()
}

/// The next receipts after the claim of an order, each with the number of its event.
pub async fn receipts_after(
    sql: &Sql,
    jackpot: &Id,
    after: u64,
    limit: i64,
) -> Result<Vec<(u64, Receipt)>, sqlx::Error> {
    let text = format!(
        "SELECT {SELECT}, n FROM payouts WHERE jackpot_id = $1 AND claim_order > $2 ORDER BY claim_order LIMIT $3"
    );
    let select = sqlx::query(sqlx::AssertSqlSafe(text)).bind(jackpot.as_str());
    let select = select.bind(int(after)).bind(limit);
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let row = |row| Ok((AnyRow::try_get::<i64, _>(row, "n")?.unsigned_abs(), read(row)?));
    rows.iter().map(row).collect()
}

/// Where tracked payouts began, and the source of the entry, by the order of their claims.
pub async fn begun(
    sql: &Sql,
    jackpot: &Id,
    first: u64,
    last: u64,
) -> Result<BTreeMap<u64, (State, Option<String>)>, LedgerError> {
    let select = sqlx::query(
        "SELECT claim_order, first_state, source_id FROM payout_states WHERE jackpot_id = $1 AND claim_order >= $2 AND \
         claim_order <= $3",
    );
    let select = select.bind(jackpot.as_str()).bind(int(first)).bind(int(last));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let of = |row: &AnyRow| {
        let (order, state): (i64, String) = (row.try_get("claim_order")?, row.try_get("first_state")?);
        let unreadable = || LedgerError::Missing(format!("a readable first state of payout {order} of '{jackpot}'"));
        let source: String = row.try_get("source_id")?;
        let begun = (
            State::read(&state).ok_or_else(unreadable)?,
            Some(source).filter(|id| !id.is_empty()),
        );
        Ok((order.unsigned_abs(), begun))
    };
    rows.iter().map(of).collect()
}

/// The id in a column.
pub(super) fn id(row: &AnyRow, column: &str) -> Result<Id, sqlx::Error> {
    Id::parse(row.try_get(column)?).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

fn read(row: &AnyRow) -> Result<Receipt, sqlx::Error> {
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| sqlx::Error::Decode(error);
    let unsigned = |name| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    let amount = |name| Minor::try_from(unsigned(name)?).map_err(|error| unreadable(Box::new(error)));
    Ok(Receipt {
        payout_id: row.try_get("payout_id")?,
        jackpot_id: id(row, "jackpot_id")?,
        entry_id: row.try_get("entry_id")?,
        player_id: PersonId::parse(row.try_get("player_id")?).map_err(|error| unreadable(Box::new(error)))?,
        tier: id(row, "tier")?,
        amount: amount("amount")?,
        currency: row
            .try_get::<&str, _>("currency")?
            .parse()
            .map_err(|error| unreadable(Box::new(error)))?,
        claim_order: unsigned("claim_order")?,
        pool_before: amount("pool_before")?,
        pool_after: amount("pool_after")?,
        paid_at: rfc3339(row.try_get("paid_at_ms")?),
        history: row.try_get("history")?,
        event_id: row.try_get("event_id")?,
        key_id: row.try_get("key_id")?,
        signature: row.try_get("signature")?,
    })
}
