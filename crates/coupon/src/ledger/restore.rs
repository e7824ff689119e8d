//! Rebuilds a coupon: its issues from their table, its users from their issues, and all other requests from the
//! events.

use std::collections::BTreeMap;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use sqlx::{Row, query};

use super::books::Books;
use super::details::{self, metadata, redeemed};
use super::event::Event;
use super::line::Waiting;
use super::projector::Coupons;
use super::users::{self, Issued, Windows};
use crate::code::Code;
use crate::definition::Definition;
use crate::record::{Issue, Record, State};
use crate::scripts::{self, Part, RestoredState};
use jackpot_api::coupon::Status;
use jackpot_kernel::ledger::projector::load::{self, LoadError, damaged};
use jackpot_kernel::ledger::restore::writer::{self, Writer};
use jackpot_kernel::ledger::restore::{Replace, RestoreError, Restored, Restorer, ended};
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::sql::int;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::subject;
use jackpot_kernel::subject::kinds::COUPON;

/// Rows read at a time.
const PAGE: i64 = 1_000;

/// Rebuilds one coupon. The caller holds the lease of its stream.
pub(super) async fn restore(
    restorer: &Restorer,
    coupon: &Id,
    replace: Replace,
    by: &Operator,
    reason: &str,
) -> Result<Restored, RestoreError> {
    let keys = CouponKeys::new(coupon);
    let books = load::load::<Coupons>(&restorer.sql, coupon).await?.books;
    let unknown = || RestoreError::Unknown(COUPON.as_str(), coupon.clone());
    let status = books.status.ok_or_else(unknown)?;
    let held = scripts::snapshot(&restorer.store, &keys, Mark::ZERO).await;
    let takes = |status| matches!(status, Status::Open | Status::Paused | Status::Closed);
    let held = held.map(|redis| (redis.mark, takes(redis.status)));
    let ledger = Mark::new(books.restores, books.n).unwrap_or_default();
    let token = restorer.begin(keys.all(), held, ledger, replace).await?.token;
    let mut writer = Writer::new(&restorer.store, &keys, &token);
    if !books.retired {
        write_issues(restorer, coupon, &books, &mut writer).await?;
        write_users(restorer, coupon, &mut writer).await?;
        write_others(restorer, coupon, &books, &mut writer).await?;
    }
    let records = writer.count(Part::Requests);
    if records != books.requests() {
        let text = format!("it has {records} requests, and its books say {}", books.requests());
        return Err(damaged::<Coupons>(coupon, &text).into());
    }
    let status = match (replace, status) {
        (Replace::Ahead, Status::Open | Status::Paused | Status::Closed) => Status::Suspended,
        _ => status,
    };
    let mut state = state(coupon, &books, status, writer.finish().await?)?;
    state.restores = replace.restores_before(state.restores);
    let end = scripts::restore_end(&restorer.store, &keys, &token, &state, by, reason).await?;
    Ok(Restored {
        mark: ended(end)?,
        records,
    })
}

/// Writes the requests with an issue, voided or not.
async fn write_issues(
    restorer: &Restorer,
    coupon: &Id,
    books: &Books,
    writer: &mut Writer<'_, Part>,
) -> Result<(), RestoreError> {
    let mut after = 0;
    loop {
        let text = concat!(
            "SELECT sequence, request_id, user_id, code, issued_at_ms, voided_at_ms, ",
            redeemed!(),
            ", ",
            metadata!(),
            " FROM coupon_issues WHERE coupon_id = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence LIMIT $4"
        );
        let page = query(text).bind(coupon.as_str()).bind(after);
        let page = page.bind(int(books.sequence)).bind(PAGE);
        let rows = restorer.sql.reading(page.fetch_all(restorer.sql.reader())).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.try_get("sequence")?;
        for row in &rows {
            let sequence: i64 = row.try_get("sequence")?;
            let unreadable = |what| damaged::<Coupons>(coupon, &format!("{what} of issue {sequence} can't be read"));
            let issue = Issue {
                sequence: sequence.unsigned_abs(),
                at_ms: row.try_get("issued_at_ms")?,
                code: Code::parse(row.try_get("code")?).map_err(|_| unreadable("the code"))?,
            };
            let voided_ms = row.try_get("voided_at_ms")?;
            let record = Record {
                user: details::asker(row)?,
                state: match (voided_ms, details::read(row)?) {
                    (0, None) => State::Issued(issue),
                    (0, Some(redemption)) => State::Redeemed(issue, redemption),
                    (voided_ms, _) => State::Voided(issue, voided_ms),
                },
            };
            writer
                .add(Part::Requests, row.try_get("request_id")?, record.to_string())
                .await?;
        }
    }
}

/// Writes what counts for each user.
async fn write_users(restorer: &Restorer, coupon: &Id, writer: &mut Writer<'_, Part>) -> Result<(), RestoreError> {
    let windows = windows(restorer, coupon).await?;
    let mut after = (String::new(), 0_i64);
    let (mut user, mut issues) = (String::new(), Vec::new());
    loop {
        let text = "SELECT user_id, sequence, request_id, issued_at_ms, n, voided_n FROM coupon_issues \
                    WHERE coupon_id = $1 AND (user_id, sequence) > ($2, $3) ORDER BY user_id, sequence LIMIT $4";
        let page = query(text).bind(coupon.as_str()).bind(&after.0).bind(after.1);
        let rows = restorer
            .sql
            .reading(page.bind(PAGE).fetch_all(restorer.sql.reader()))
            .await?;
        for row in &rows {
            after = (row.try_get("user_id")?, row.try_get("sequence")?);
            if user != after.0 {
                write_user(&user, &issues, &windows, writer).await?;
                user.clone_from(&after.0);
                issues.clear();
            }
            issues.push(Issued {
                request: row.try_get("request_id")?,
                at_ms: row.try_get("issued_at_ms")?,
                n: row.try_get("n")?,
                sequence: after.1,
                voided_n: row.try_get("voided_n")?,
            });
        }
        if rows.is_empty() {
            return write_user(&user, &issues, &windows, writer).await;
        }
    }
}

async fn windows(restorer: &Restorer, coupon: &Id) -> Result<Windows, RestoreError> {
    let rows = query("SELECT n, json FROM definitions WHERE kind = 'coupon' AND id = $1 ORDER BY n")
        .bind(coupon.as_str())
        .fetch_all(restorer.sql.reader());
    let mut windows = Windows::default();
    for row in restorer.sql.reading(rows).await? {
        let definition = definition(coupon, row.try_get("json")?)?;
        windows.0.push((row.try_get("n")?, definition.window_ms().map(int)));
    }
    Ok(windows)
}

/// Writes refusals, queued requests and dead letters.
async fn write_others(
    restorer: &Restorer,
    coupon: &Id,
    books: &Books,
    writer: &mut Writer<'_, Part>,
) -> Result<(), RestoreError> {
    let (mut waiting, mut after) = (Waiting::default(), 0);
    loop {
        let events = stored::page(&restorer.sql, COUPON, coupon, after, books.n, PageSize::REPLAY).await?;
        let Some(last) = events.last() else { break };
        after = last.n;
        for row in &events {
            for (request, record) in waiting.apply(&Event::parse(&row.fields()?)?)? {
                writer.add(Part::Requests, request, record.to_string()).await?;
            }
        }
    }
    for (request, record) in waiting.open {
        let (part, arrival) = match record.state {
            State::Queued { arrival, .. } => (Part::Queue, arrival),
            State::Dead { arrival, .. } => (Part::Dead, arrival),
            _ => continue,
        };
        writer.add(part, request.clone(), arrival.to_string()).await?;
        writer.add(Part::Requests, request, record.to_string()).await?;
    }
    Ok(())
}

async fn write_user(
    user: &str,
    issues: &[Issued],
    windows: &Windows,
    writer: &mut Writer<'_, Part>,
) -> Result<(), RestoreError> {
    match users::record(issues, windows) {
        Some(record) => writer.add(Part::Users, user.to_owned(), record).await,
        None => Ok(()),
    }
}

fn definition(coupon: &Id, json: &str) -> Result<Definition, LoadError> {
    Definition::from_json(json)
        .map_err(|error| damaged::<Coupons>(coupon, &format!("a definition can't be read: {error}")))
}

fn state(
    coupon: &Id,
    books: &Books,
    status: Status,
    written: BTreeMap<Part, u64>,
) -> Result<RestoredState, RestoreError> {
    Ok(RestoredState {
        n: books.n,
        restores: books.restores,
        history: subject::new_history()?,
        status,
        held: held(books, status),
        version: books.version,
        json: books.definition.clone(),
        definition: definition(coupon, &books.definition)?,
        sequence: books.sequence,
        voided: books.voided,
        redeemed: books.redeemed,
        arrivals: books.arrivals,
        retention_s: books.retention_s,
        puts: books.puts.clone(),
        written,
    })
}

/// What a suspension interrupts: of a restored coupon that was not suspended before, its status.
fn held(books: &Books, status: Status) -> Option<Status> {
    let was = books.held.or(books.status).filter(|was| *was != Status::Suspended);
    was.filter(|was| status == Status::Suspended && *was != Status::Open)
}

impl writer::Part for Part {
    type Keys = CouponKeys;

    fn state(keys: &CouponKeys) -> &str {
        &keys.state
    }

    fn key(self, keys: &CouponKeys) -> &str {
        self.key(keys)
    }

    fn is_sorted(self) -> bool {
        self.is_sorted()
    }
}
