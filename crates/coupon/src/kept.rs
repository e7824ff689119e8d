//! Issues from the ledger. After the retention of a coupon that ended, Redis has no records of its requests.

use jackpot_core::ids::Id;
use sqlx::Row;

use super::code::Code;
use super::coupons::Request;
use super::error::CouponError;
use super::ledger::details::{self, metadata, redeemed};
use super::record::{Issue, Record, State};
use jackpot_kernel::sql::Sql;

/// The request, if a unit was issued to it. A coupon is retired only once the ledger has all its events, so none is
/// missing here.
pub(super) async fn issued(sql: &Sql, coupon: &Id, request_id: &str) -> Result<Option<Request>, CouponError> {
    let text = concat!(
        "SELECT sequence, user_id, code, issued_at_ms, voided_at_ms, ",
        redeemed!(),
        ", ",
        metadata!(),
        " FROM coupon_issues WHERE coupon_id = $1 AND request_id = $2"
    );
    let row = sqlx::query(text).bind(coupon.as_str()).bind(request_id);
    let Some(row) = sql.reading(row.fetch_optional(sql.reader())).await? else {
        return Ok(None);
    };
    let unreadable = || CouponError::Lost {
        id: coupon.clone(),
        what: format!("the row of request '{request_id}' in the ledger"),
    };
    let issue = Issue {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        at_ms: row.try_get("issued_at_ms")?,
        code: Code::parse(row.try_get("code")?).map_err(|_| unreadable())?,
    };
    let state = match (row.try_get("voided_at_ms")?, details::read(&row)?) {
        (0, None) => State::Issued(issue),
        (0, Some(redemption)) => State::Redeemed(issue, redemption),
        (voided_ms, _) => State::Voided(issue, voided_ms),
    };
    let user = details::asker(&row)?;
    Ok(Some(Request {
        request_id: request_id.to_owned(),
        record: Record { user, state },
        first: None,
        place: None,
        replayed: true,
    }))
}

/// Number of the last event of a coupon that the ledger has. Read it before [`issued`]: what that finds is then at least as
/// new.
pub(super) async fn last_event(sql: &Sql, coupon: &Id) -> Result<u64, CouponError> {
    let n = sqlx::query_scalar("SELECT n FROM streams WHERE kind = 'coupon' AND id = $1").bind(coupon.as_str());
    let n: Option<i64> = sql.reading(n.fetch_optional(sql.reader())).await?;
    Ok(n.unwrap_or_default().unsigned_abs())
}
