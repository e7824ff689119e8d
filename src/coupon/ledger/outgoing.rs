//! What the events of a coupon tell other systems.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use serde_json::{Value, json};
use sqlx::Row;

use super::event::{Event, Kind, Line, What};
use super::projector::Coupons;
use crate::coupon::status::Status;
use crate::ledger::outgoing::{Fields, SUSPENDED, Stored, TellError, Teller, Tells, Told, Wants};
use crate::sql::Sql;
use crate::subject::kinds::COUPON;

const ISSUED: &str = "coupon.issued";
const VOIDED: &str = "coupon.voided";
const DEAD: &str = "coupon.dead";

impl Tells for Coupons {
    const TYPES: &'static [&'static str] = &[ISSUED, VOIDED, DEAD, SUSPENDED];

    async fn tell(sql: &Sql, id: &Id, rows: &[Stored], wants: Wants<'_>) -> Result<Vec<Told>, TellError> {
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
                Kind::Void {
                    request,
                    user,
                    sequence,
                    ..
                } => teller.add(VOIDED, || voided(request, user, *sequence, event.at_ms)),
                Kind::Status(change) => teller.suspended(change.after == Status::Suspended, &fields),
                Kind::Skipped(skipped) => {
                    for issue in issues_of(sql, id, row.n).await? {
                        teller.add(ISSUED, || issue);
                    }
                    for (sequence, (request, user)) in &skipped.carried.voided {
                        teller.add(VOIDED, || voided(request, user, *sequence, event.at_ms));
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
            json!({"result": "issued", "request_id": line.request, "user_id": line.user, "sequence": sequence,
                "code": code.to_string(), "issued_at": rfc3339(at_ms)})
        }),
        What::Dead { attempts } => teller.add(
            DEAD,
            || json!({"request_id": line.request, "user_id": line.user, "attempts": attempts, "at": rfc3339(at_ms)}),
        ),
        _ => {}
    }
}

fn voided(request: &str, user: &Id, sequence: u64, at_ms: i64) -> Value {
    json!({"request_id": request, "user_id": user, "sequence": sequence, "voided_at": rfc3339(at_ms)})
}

/// The units that a skipped event issued. Their numbers are between those of the events around it.
async fn issues_of(sql: &Sql, id: &Id, n: u64) -> Result<Vec<Value>, TellError> {
    let text = "SELECT request_id, user_id, sequence, code, issued_at_ms FROM coupon_issues WHERE coupon_id = $1 \
                AND sequence > COALESCE((SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2 - 1), 0) \
                AND sequence <= (SELECT last_sequence FROM events WHERE kind = 'coupon' AND id = $1 AND n = $2) \
                AND n = $2 ORDER BY sequence";
    let select = sqlx::query(text)
        .bind(id.as_str())
        .bind(i64::try_from(n).unwrap_or(i64::MAX));
    let rows = sql.reading(select.fetch_all(sql.reader())).await?;
    let issue = |row: &sqlx::any::AnyRow| {
        let (request, user): (String, String) = (row.try_get("request_id")?, row.try_get("user_id")?);
        let (sequence, code): (i64, String) = (row.try_get("sequence")?, row.try_get("code")?);
        Ok(
            json!({"result": "issued", "request_id": request, "user_id": user, "sequence": sequence, "code": code,
            "issued_at": rfc3339(row.try_get("issued_at_ms")?)}),
        )
    };
    rows.iter().map(issue).collect()
}
