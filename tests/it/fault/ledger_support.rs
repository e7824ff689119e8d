//! What the tests of the ledger under faults share: the ledger as seen from outside, and the check that it has
//! everything that was answered, exactly once.

use std::collections::{BTreeMap, BTreeSet};

use jackpot::jackpot::ledger::books::Books;
use jackpot::jackpot::ledger::event::{Enter, Event, Kind};
use jackpot::jackpot::ledger::postings;
use jackpot::ledger::kind::Subjects as _;
use jackpot::sql::Sql;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::ids::Id;
use sqlx::Row;

use crate::fault::load::Played;
use crate::support::fixture::Fixture;
use crate::support::ledger_db::settings;
use crate::support::ledger_fixture::InLedger;
use crate::support::prelude::*;

/// Redis and the ledger are compared every second, so that a test need not wait.
pub const COMPARED_OFTEN: (&str, &str) = ("JACKPOT__LEDGER__RECONCILE_INTERVAL_S", "1");

/// Events read at a time.
const PAGE: i64 = 5_000;

/// The ledger, to be read beside the service. `url` is empty for SQLite in the service's data directory.
pub async fn outside(service: &Service, url: &str) -> Sql {
    Sql::open_to_read(&settings(url), service.data_dir())
        .await
        .expect("the ledger can be read")
}

/// The jackpot's row in `GET /v1/reconciliation`, whatever its status.
pub async fn reconciliation(service: &Service, jackpot: &str) -> (StatusCode, Value) {
    let answer = service.get("/v1/reconciliation").await;
    let items = answer.body["items"].as_array().cloned().unwrap_or_default();
    let item = items.into_iter().find(|item| item["jackpot_id"] == jackpot);
    (answer.status, item.unwrap_or_default())
}

/// Waits until the ledger has all events and a comparison after the last of them was clean.
pub async fn until_clean(service: &Service, sql: &Sql, jackpot: &str) {
    eventually(PATIENCE, "the ledger has all, and agrees with Redis", async || {
        let last = cursor(sql, jackpot).await;
        let (status, item) = reconciliation(service, jackpot).await;
        assert_eq!(status, StatusCode::OK, "{item}");
        (item["lag"] == 0 && item["clean"] == true && item["event"].as_i64() == Some(last)).then_some(())
    })
    .await;
}

/// A service on the Redis of a fixture, which compares often. `auto_restore`: whether it rebuilds what is lost.
pub async fn service_beside<C>(fixture: &Fixture<C>, auto_restore: &str) -> Service {
    let restore = ("JACKPOT__LEDGER__AUTO_RESTORE", auto_restore);
    service_on(fixture.redis.url(), &[COMPARED_OFTEN, restore]).await
}

/// The fixture's row in `GET /v1/reconciliation`, whatever its status.
pub async fn compared<C: InLedger>(service: &Service, fixture: &Fixture<C>) -> (StatusCode, Value) {
    let (kind, answer) = (C::Kind::NAME, service.get("/v1/reconciliation").await);
    let all = answer.body[kind.compared_as].as_array().cloned().unwrap_or_default();
    let own = all
        .into_iter()
        .find(|item| item[format!("{kind}_id")] == fixture.id.as_str());
    (answer.status, own.unwrap_or_default())
}

/// Waits until the ledger has all events of the fixture, and a comparison after the last of them was clean.
pub async fn until_it_agrees<C: InLedger>(service: &Service, fixture: &Fixture<C>) {
    eventually(PATIENCE, "the ledger has all of it, and agrees", async || {
        let (status, own) = compared(service, fixture).await;
        let last: u64 = fixture.field("n").await;
        let clean = own["clean"] == true && own["lag"] == 0 && own["event"].as_u64() == Some(last);
        (status == StatusCode::OK && clean).then_some(())
    })
    .await;
}

/// Number of the last event that the ledger has of a jackpot.
pub async fn cursor(sql: &Sql, jackpot: &str) -> i64 {
    let n = sqlx::query_scalar("SELECT n FROM streams WHERE kind = 'jackpot' AND id = $1")
        .bind(jackpot)
        .fetch_optional(sql.reader())
        .await
        .expect("the ledger answers");
    n.unwrap_or_default()
}

/// The value of a metric of a jackpot, 0 when there is none.
pub async fn metric(service: &Service, name: &str, jackpot: &str) -> u64 {
    let text = crate::support::http_client()
        .get(service.url("/metrics"))
        .send()
        .await
        .expect("metrics are served")
        .text()
        .await
        .expect("text");
    let label = format!("\"{jackpot}\"");
    let line = text
        .lines()
        .find(|line| line.contains(name) && !line.starts_with('#') && line.contains(&label));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
        .unwrap_or_default()
}

/// The state of a jackpot that follows from the ledger's events alone.
#[derive(Debug, Default)]
pub struct History {
    /// Sequence by entry id.
    pub entries: BTreeMap<String, u64>,
    /// The books after the last event.
    pub books: Books,
}

/// Reads all events, which must be numbered 1, 2, 3, ..., chained, and each follow from those before it. The cursor and
/// the books of the jackpot's row must be those after the last event.
pub async fn history(sql: &Sql, jackpot: &str) -> History {
    let id = Id::parse(jackpot).expect("an id");
    let (mut all, mut hash) = (History::default(), ChainHash::first(&id));
    loop {
        let text = "SELECT n, hash, body FROM events WHERE kind = 'jackpot' AND id = $1 AND n > $2 ORDER BY n LIMIT $3";
        let rows = sqlx::query(text)
            .bind(jackpot)
            .bind(i64::try_from(all.books.n).expect("small"))
            .bind(PAGE)
            .fetch_all(sql.reader())
            .await
            .expect("the ledger answers");
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let (n, hashed, body): (i64, String, String) = (row.get("n"), row.get("hash"), row.get("body"));
            let fields: BTreeMap<String, String> = serde_json::from_str(&body).expect("an object of strings");
            assert_eq!(chain::body(&(&fields).into()), body, "event {n} is canonical");
            hash = hash.next(&body);
            assert_eq!(hash.to_string(), hashed, "the chain at event {n}");
            let event = Event::parse(&(&fields).into()).expect("an event");
            all.books.apply(&event).expect("it follows");
            if let Kind::Enter(Enter { call, .. }) = event.kind {
                for (sequence, entry) in (call.first..).zip(call.entries) {
                    let before = all.entries.insert(entry.entry_id, sequence);
                    assert_eq!(before, None, "an entry counted twice, at event {n}");
                }
            }
        }
    }
    let row = sqlx::query("SELECT n, hash, books, stopped FROM streams WHERE kind = 'jackpot' AND id = $1")
        .bind(jackpot)
        .fetch_one(sql.reader())
        .await
        .expect("the ledger answers");
    assert_eq!(row.get::<i64, _>("n").unsigned_abs(), all.books.n, "the cursor");
    assert_eq!(row.get::<String, _>("hash"), hash.to_string(), "the head of the chain");
    assert_eq!(row.get::<String, _>("stopped"), "");
    let books: Books = serde_json::from_str(&row.get::<String, _>("books")).expect("books");
    assert_eq!(books, all.books, "the books follow from the events");
    all
}

/// The ledger has every acknowledged entry exactly once, as it was answered, and nothing else. Postings sum to zero,
/// and payouts are those in the winners' answers.
pub async fn assert_ledger_has_each_once(sql: &Sql, jackpot: &str, played: &[Played]) -> History {
    let all = history(sql, jackpot).await;
    let told: BTreeMap<String, u64> = played
        .iter()
        .map(|one| (text(&one.body["entry_id"]), number(&one.body["sequence"])))
        .collect();
    assert_eq!(told.len(), played.len(), "players never use an id again");
    assert_eq!(told, all.entries, "told success, and in the ledger");
    assert_eq!(all.books.pending.len(), 0, "all have their outcome");

    let paid: BTreeSet<_> = played.iter().filter_map(payout_told).collect();
    let rows = sqlx::query("SELECT payout_id, entry_id, amount, claim_order FROM payouts WHERE jackpot_id = $1")
        .bind(jackpot)
        .fetch_all(sql.reader())
        .await
        .expect("the ledger answers");
    let recorded: Vec<(String, String, u64, u64)> = rows
        .iter()
        .map(|row| {
            let number = |name: &str| row.get::<i64, _>(name).unsigned_abs();
            (
                row.get("payout_id"),
                row.get("entry_id"),
                number("amount"),
                number("claim_order"),
            )
        })
        .collect();
    assert_eq!(recorded.len(), paid.len(), "as many payouts as winners");
    assert_eq!(
        recorded.into_iter().collect::<BTreeSet<_>>(),
        paid,
        "payouts are the answers of winners"
    );
    assert_postings_sum_to_zero(sql, jackpot).await;
    all
}

async fn assert_postings_sum_to_zero(sql: &Sql, jackpot: &str) {
    let text = "SELECT moved FROM events WHERE kind = 'jackpot' AND id = $1 AND moved <> ''";
    let moved: Vec<String> = sqlx::query_scalar(text)
        .bind(jackpot)
        .fetch_all(sql.reader())
        .await
        .expect("the ledger answers");
    for moved in moved {
        let mut sums = BTreeMap::<_, i64>::new();
        for posting in postings::parse(&moved).expect("postings") {
            *sums.entry(posting.tier).or_default() += posting.amount * 1_000_000 + posting.micro;
        }
        assert!(sums.values().all(|sum| *sum == 0), "{moved}");
    }
}

fn payout_told(one: &Played) -> Option<(String, String, u64, u64)> {
    let outcome = &one.body["outcome"];
    let payout_id = outcome["payout_id"].as_str()?;
    let (amount, order) = (number(&outcome["amount"]), number(&outcome["claim_order"]));
    Some((payout_id.to_owned(), text(&one.body["entry_id"]), amount, order))
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("an integer")
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}
