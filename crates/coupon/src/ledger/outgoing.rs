//! What the events of a coupon tell other systems.

use jackpot_api::coupon::{Redeemed, Status};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::details::{self, metadata};
use super::event::{Event, Kind, Line, Unit, What};
use super::projector::Coupons;
use crate::metadata::Metadata;
use crate::record::Redemption;
use jackpot_kernel::ledger::outgoing::{Fields, SUSPENDED, TellError, Teller, Tells, Told, Wants};
use jackpot_kernel::ledger::stored::Stored;
use jackpot_kernel::sql::{AtHome, Sql, int};
use jackpot_kernel::subject::kinds::COUPON;

const ISSUED: &str = "coupon.issued";
const VOIDED: &str = "coupon.voided";
const REDEEMED: &str = "coupon.redeemed";
const DEAD: &str = "coupon.dead";

impl Tells for Coupons {
    const TYPES: &'static [&'static str] = &[ISSUED, VOIDED, REDEEMED, DEAD, SUSPENDED];

    async fn tell(sql: &AtHome, id: &Id, rows: &[Stored], wants: Wants<'_>) -> Result<Vec<Told>, TellError> {
        let mut told = Vec::with_capacity(rows.len());
        for row in rows {
            let fields = Fields::of(COUPON, id, row)?;
            let event = Event::parse(&fields.all).map_err(|error| fields.unreadable(&error))?;
            let mut teller = Teller::new(wants);
            match &event.kind {
                Kind::Issue { lines, .. } | Kind::Serve { lines, .. } => {
                    for line in lines {
                        decided(&mut teller, line, event.at_ms);
                    }
                }
                Kind::Void { unit, .. } => {
                    let unit = wanted_unit(sql, id, unit, wants(VOIDED)).await?;
                    teller.add(VOIDED, || voided(unit, event.at_ms));
                }
                Kind::Redeem {
                    unit,
                    redemption,
                    reference,
                } => {
                    let used = Redemption {
                        redeemed_ms: event.at_ms,
                        redemption: redemption.clone(),
                        reference: reference.clone(),
                    };
                    let unit = wanted_unit(sql, id, unit, wants(REDEEMED)).await?;
                    teller.add(REDEEMED, || redeemed(unit, &used));
                }
                Kind::Status(change) => teller.suspended(change.after == Status::Suspended, &fields),
                Kind::Skipped(skipped) => {
                    let (of, n) = (id.clone(), row.n);
                    for issue in sql.ask(|sql| issues_of(sql, of, n)).await? {
                        teller.add(ISSUED, || issue);
                    }
                    for unit in skipped.carried.voids() {
                        let unit = wanted_unit(sql, id, &unit, wants(VOIDED)).await?;
                        teller.add(VOIDED, || voided(unit, event.at_ms));
                    }
                    for (unit, redemption) in skipped.carried.redemptions() {
                        let unit = wanted_unit(sql, id, &unit, wants(REDEEMED)).await?;
                        teller.add(REDEEMED, || redeemed(unit, &redemption));
                    }
                    teller.step(&fields);
                }
                _ => {}
            }
            told.push(teller.told(row, &fields));
        }
        Ok(told)
    }
}

fn decided(teller: &mut Teller<'_>, line: &Line, at_ms: i64) {
    match &line.what {
        What::Issued { sequence, code } => teller.add(ISSUED, || {
            let told = json!({"result": "issued", "request_id": line.request, "user_id": line.user.user,
                "sequence": sequence, "code": code.to_string(), "issued_at": rfc3339(at_ms)});
            with_metadata(told, line.user.metadata.as_ref())
        }),
        What::Dead { attempts } => teller.add(DEAD, || {
            let told = json!({"request_id": line.request, "user_id": line.user.user, "attempts": attempts,
                "at": rfc3339(at_ms)});
            with_metadata(told, line.user.metadata.as_ref())
        }),
        _ => {}
    }
}

fn with_metadata(mut told: Value, metadata: Option<&Metadata>) -> Value {
    if let Some(metadata) = metadata {
        told["metadata"] = json!(metadata);
    }
    told
}

fn voided(mut unit: Value, at_ms: i64) -> Value {
    unit["voided_at"] = json!(rfc3339(at_ms));
    unit
}

fn redeemed(mut unit: Value, redemption: &Redemption) -> Value {
    unit["redeemed"] = json!(Redeemed::from(redemption));
    unit
}

/// A unit as it was given out. Its later events lack the code, the time and the texts of its request, which SQL has, and
/// which never change: each delivery says the same. Where a restore has taken the unit back, only the event's own is left.
async fn wanted_unit(sql: &AtHome, id: &Id, unit: &Unit, is_wanted: bool) -> Result<Value, TellError> {
    if is_wanted {
        let (id, unit) = (id.clone(), unit.clone());
        if let Some(issue) = sql.ask(|sql| issue_of(sql, id, unit)).await? {
            return Ok(issue);
        }
    }
    Ok(json!({"request_id": unit.request, "user_id": unit.user, "sequence": unit.sequence}))
}

async fn issue_of(sql: Sql, id: Id, unit: Unit) -> Result<Option<Value>, TellError> {
    let text = concat!(
        "SELECT request_id, user_id, sequence, code, issued_at_ms, ",
        metadata!(),
        " FROM coupon_issues WHERE coupon_id = $1 AND sequence = $2 AND request_id = $3"
    );
    let select = sqlx::query(text)
        .bind(id.as_str())
        .bind(int(unit.sequence))
        .bind(unit.request);
    let row = sql.reading(select.fetch_optional(sql.reader())).await?;
    Ok(row.as_ref().map(issue).transpose()?)
}

/// The units that a skipped event issued. Their numbers are between those of the events around it.
async fn issues_of(sql: Sql, id: Id, n: u64) -> Result<Vec<Value>, TellError> {
    let text = concat!(
        "SELECT request_id, user_id, sequence, code, issued_at_ms, ",
        metadata!(),
        " FROM coupon_issues WHERE coupon_id = $1 \
          AND sequence > COALESCE((SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2 - 1), 0) \
          AND sequence <= (SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2) \
          AND n = $2 ORDER BY sequence"
    );
    let select = sqlx::query(text).bind(id.as_str()).bind(int(n));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let issues: Result<_, sqlx::Error> = rows.iter().map(issue).collect();
    Ok(issues?)
}

fn issue(row: &AnyRow) -> Result<Value, sqlx::Error> {
    let (request, asker): (String, _) = (row.try_get("request_id")?, details::asker(row)?);
    let (sequence, code): (i64, String) = (row.try_get("sequence")?, row.try_get("code")?);
    let told = json!({"result": "issued", "request_id": request, "user_id": asker.user, "sequence": sequence,
        "code": code, "issued_at": rfc3339(row.try_get("issued_at_ms")?)});
    Ok(with_metadata(told, asker.metadata.as_ref()))
}
