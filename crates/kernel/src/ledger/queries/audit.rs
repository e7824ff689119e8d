//! What operators did, newest first.

use std::collections::HashMap;

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;

use super::scan::{MAX_SCANNED, Order, Page, Scan};
use super::scans::Scans;
use super::{Between, Key, LedgerError, Listing, Queries, Value, json};
use crate::ledger::projector::lease::numbered;
use crate::subject::kinds::KindName;

/// One action of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Name of the key that acted.
    #[schema(example = "operator")]
    pub who: String,
    /// RFC 3339.
    #[schema(example = "2026-11-21T06:00:00.123Z")]
    pub at: String,
    /// define, pause, resume, suspend, close, adjust, reverse, transfer, rotate, restore, void, redrive, skip,
    /// delete, replay, emergency-stop or emergency-start
    #[schema(example = "pause")]
    pub action: String,
    /// The jackpot, coupon or room, or `subscription:` and its id, with what is meant of it after a `/`, such as an adjustment.
    #[schema(example = "spring")]
    pub target: String,
    /// What it was: a status, or the fields that the action changed; null where there was nothing.
    #[schema(value_type = Value, required)]
    pub before: serde_json::Value,
    /// What it became, in the same form.
    #[schema(value_type = Value)]
    pub after: serde_json::Value,
    /// Why, as the operator said; empty for a change by the API that takes no reason.
    #[schema(example = "launch")]
    pub reason: String,
    /// `X-Request-Id` of the answer to it.
    pub request_id: String,
}

/// The filters of a list of actions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditFilters {
    /// On each of these subjects. No action is on two of them.
    pub subjects: Vec<(KindName, Id)>,
    /// On one of these subjects, when `subjects` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<(KindName, Id)>>,
    /// Name of the key that acted.
    pub who: Option<Id>,
    pub action: Option<Id>,
    /// When the actions were done.
    pub between: Between,
}

impl AuditRow {
    /// Hides the codes from keys that may not see them: a skipped event is shown as it was, and may hold codes.
    pub fn hide_codes(&mut self) {
        if self.action == "skip"
            && let Some(event) = self.before.get_mut("event")
        {
            *event = serde_json::Value::Null;
        }
    }
}

impl AuditFilters {
    /// The list, for its cursors.
    pub fn listing(&self) -> Listing {
        Listing::new("audit", self, Key::before_id(0))
    }

    /// The ranges that a page reads: one for each subject in `only`.
    pub fn scans(&self) -> Scans {
        match &self.only {
            Some(only) if self.subjects.is_empty() => {
                Scans::of(only.iter().map(|subject| self.of(subject).scan()).collect())
            }
            _ => self.scan().into(),
        }
    }

    fn of(&self, subject: &(KindName, Id)) -> Self {
        Self {
            subjects: vec![subject.clone()],
            ..self.clone()
        }
    }

    /// The range that a page reads.
    pub fn scan(&self) -> Scan {
        let mut subjects = self.subjects.iter().map(|(kind, id)| Value::Text(kind.subject(id)));
        let subject = subjects.next();
        let (index, fixed): (&'static [&'static str], _) = match subject {
            Some(subject) => (&["subject", "at_ms", "n"], vec![("subject", subject)]),
            None => (&["at_ms", "subject", "n"], Vec::new()),
        };
        let others = subjects.map(|other| ("subject =", other));
        let who = self.who.as_ref().map(|who| ("who =", Value::from(who)));
        let action = self.action.as_ref().map(|action| ("action =", Value::from(action)));
        Scan {
            table: "audit".to_owned(),
            select: "subject, n, at_ms, who, action, target, before, after, reason, request_id",
            index,
            fixed,
            key: ["at_ms", "subject", "n"],
            order: Order::NewestFirst,
            low: Key::before_id(self.between.from_ms()),
            high: Key::before_id(self.between.to_ms()),
            filters: others.chain(who).chain(action).collect(),
            within: None,
            scanned: MAX_SCANNED,
        }
    }
}

impl Queries {
    /// A page of what operators did, newest first.
    pub async fn audit(
        &self,
        filters: &AuditFilters,
        after: Option<Key>,
        limit: u32,
    ) -> Result<Page<AuditRow>, LedgerError> {
        let scans = filters.scans().after(after.as_ref());
        self.sql
            .reading(async {
                let mut page = scans.page(self.sql.reader(), limit, read).await?;
                self.add_reasons(&mut page.items).await?;
                Ok(page)
            })
            .await
    }

    /// Adds the reasons that the console has kept for actions whose events have none. One more statement, and only for a
    /// page with such actions: in the scan it would run for each row that a filter leaves out.
    async fn add_reasons(&self, rows: &mut [AuditRow]) -> Result<(), LedgerError> {
        let mut without: Vec<_> = rows.iter_mut().filter(|row| row.reason.is_empty()).collect();
        if without.is_empty() {
            return Ok(());
        }
        let text = format!(
            "SELECT request_id, who, reason FROM console_reasons WHERE request_id IN ({})",
            numbered(1, without.len())
        );
        let select = sqlx::query(AssertSqlSafe(text));
        let select = without
            .iter()
            .fold(select, |select, row| select.bind(row.request_id.clone()));
        let mut kept = HashMap::new();
        for row in select.fetch_all(self.sql.reader()).await? {
            let (id, who): (String, String) = (row.try_get("request_id")?, row.try_get("who")?);
            kept.insert((id, who), row.try_get::<String, _>("reason")?);
        }
        for row in &mut without {
            let of = (row.request_id.clone(), row.who.clone());
            row.reason = kept.get(&of).cloned().unwrap_or_default();
        }
        Ok(())
    }
}

fn read(row: &AnyRow) -> Result<AuditRow, LedgerError> {
    let (subject, n): (String, i64) = (row.try_get("subject")?, row.try_get("n")?);
    let value = |column: &str| -> Result<serde_json::Value, LedgerError> {
        let text: String = row.try_get(column)?;
        json(&text, || format!("'{column}' of audit row {subject}:{n}"))
    };
    Ok(AuditRow {
        who: row.try_get("who")?,
        at: rfc3339(row.try_get("at_ms")?),
        action: row.try_get("action")?,
        target: row.try_get("target")?,
        before: value("before")?,
        after: value("after")?,
        reason: row.try_get("reason")?,
        request_id: row.try_get("request_id")?,
    })
}
