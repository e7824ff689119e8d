//! Transfers between jackpots in different slots of a cluster, while its primaries and the instances are killed.
//! Every unit is somewhere, once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jackpot::sql::Sql;
use sqlx::Row;

use crate::fault::ledger_support::{COMPARED_OFTEN, outside, until_clean};
use crate::fault::support::{create, entered, key, until_done};
use crate::support::cluster::TestCluster;
use crate::support::postgres::TestPostgres;
use crate::support::prelude::*;
use crate::support::service::Caller;
use crate::support::service::LIMITS;
use crate::support::size;

/// Enough that each of three nodes has some.
const JACKPOTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Transfers in all. Each kill comes after so many of them.
fn transfers() -> usize {
    size(80, 200)
}
/// Transfers under way at a time.
const AT_ONCE: usize = 8;
/// Entries of each jackpot, and what each adds in millionths: 1.5001 of a stake of 100.
const ENTRIES: usize = 7;
const ADDED_MICRO: u64 = 1_500_100;
const MICRO: u64 = 1_000_000;
/// Longest wait for the end of all transfers, after the last kill.
const ENDED_WITHIN: Duration = Duration::from_mins(1);

/// Money in pool, reserve, overflow and fractions; nobody wins.
fn definition(id: &str) -> Value {
    json!({
        "id": id, "name": "It moves", "currency": "KRW", "status": "open", "contribution": {"rate_ppm": 15_001},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 1, "seed": 0, "reserve_ppm": 333_333, "cap": 3,
                   "must_hit_by": null}],
        "odds": {"total": 1, "ranks": []},
    })
}

/// Jackpots with money, paused.
async fn given(service: &Service) {
    for jackpot in JACKPOTS {
        create(service, definition(jackpot)).await;
        for number in 0..ENTRIES {
            entered(service, jackpot, &format!("e{number}")).await;
        }
        let reason = json!({"reason": "a test"});
        until_done(
            &[service.caller()],
            0,
            &format!("/v1/jackpots/{jackpot}/pause"),
            &reason,
        )
        .await;
    }
}

/// The jackpots of transfer `number`: each pair is used in turn.
fn pair(number: usize) -> (&'static str, &'static str) {
    let source = number % JACKPOTS.len();
    let ahead = 1 + number / JACKPOTS.len() % (JACKPOTS.len() - 1);
    (JACKPOTS[source], JACKPOTS[(source + ahead) % JACKPOTS.len()])
}

/// What is put into the source before a transfer, so that each one moves something.
fn funded(number: usize) -> u64 {
    number as u64 + 1
}

/// Funds a source and moves all that it has, whatever it takes. Returns how many tries were not answered.
async fn fund_and_move(callers: &[Caller], number: usize) -> usize {
    let (source, target) = pair(number);
    let meter = ["reserve", "overflow"][number % 2];
    let fund = json!({"adjustment_id": format!("f{number}"), "tier": "grand", "meter": meter, "amount": funded(number),
                      "reason": "a test"});
    let (_, before) = until_done(callers, number, &format!("/v1/jackpots/{source}/adjustments"), &fund).await;
    let wish = json!({"transfer_id": format!("t{number}"), "to": target, "tiers": {"grand": "grand"},
                      "reason": "a test"});
    let path = format!("/v1/jackpots/{source}/transfers");
    let (answer, missed) = until_done(callers, number, &path, &wish).await;
    let part = &answer.body["tiers"][0];
    assert_eq!(
        (&answer.body["to"], &part["to_tier"]),
        (&json!(target), &json!("grand")),
        "{}",
        answer.text
    );
    before + missed
}

/// Waits until the ledger has the end of each transfer, as the API lists it.
async fn until_all_are_done(service: &Service) {
    eventually(ENDED_WITHIN, "all transfers are done", async || {
        let mut done = 0;
        for jackpot in JACKPOTS {
            let page = service
                .get(&format!("/v1/jackpots/{jackpot}/transfers?limit=100"))
                .await
                .body;
            assert!(page["next_cursor"].is_null(), "one page: {page}");
            let items = page["items"].as_array().expect("transfers");
            done += items.iter().filter(|item| item["state"] == "done").count();
        }
        (done == transfers()).then_some(())
    })
    .await;
}

/// The events of each transfer in the ledger, by source and id: target and parts as given, and as received.
type Moves = BTreeMap<(String, String), Vec<(String, String)>>;

async fn moves(sql: &Sql, kind: &str) -> Moves {
    let text = "SELECT id, body FROM events WHERE kind = 'jackpot' AND type = $1";
    let rows = sqlx::query(text).bind(kind).fetch_all(sql.reader()).await;
    let mut all = Moves::new();
    for row in rows.expect("the ledger answers") {
        let (jackpot, body): (String, String) = (row.get("id"), row.get("body"));
        let mut fields: BTreeMap<String, String> = serde_json::from_str(&body).expect("an object of strings");
        let mut field = |name: &str| fields.remove(name).expect("a field");
        let (transfer, parts) = (field("transfer"), field("parts"));
        let (source, target) = if kind == "give" {
            (jackpot, field("to"))
        } else {
            (field("from"), jackpot)
        };
        all.entry((source, transfer)).or_default().push((target, parts));
    }
    all
}

/// Each transfer was given once and received once, by the jackpot it was for, to the millionth.
async fn assert_each_moved_once(sql: &Sql) {
    let (given, received) = (moves(sql, "give").await, moves(sql, "receive").await);
    assert_eq!(given, received);
    assert_eq!(given.len(), transfers());
    for number in 0..transfers() {
        let (source, target) = pair(number);
        let events = &given[&(source.to_owned(), format!("t{number}"))];
        assert_eq!(events.len(), 1, "{source} t{number}: {events:?}");
        assert_eq!(events[0].0, target);
    }
}

/// All that the jackpots hold is what was put into them.
async fn assert_nothing_was_lost_or_made(service: &Service) {
    let mut held = 0;
    for jackpot in JACKPOTS {
        let body = service.get(&format!("/v1/jackpots/{jackpot}")).await.body;
        let of = |name: &str| body["meters"][0][name].as_u64().expect("an integer");
        assert_eq!(of("paid"), 0);
        held += (of("pool") + of("reserve") + of("overflow")) * MICRO + of("remainder_micro");
    }
    let entries = (JACKPOTS.len() * ENTRIES) as u64;
    let put = entries * ADDED_MICRO + (0..transfers()).map(funded).sum::<u64>() * MICRO;
    assert_eq!(held, put);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_transfers_between_slots_lose_and_make_nothing_while_nodes_and_instances_are_killed() {
    let (mut cluster, postgres) = (TestCluster::with_replicas().await, TestPostgres::start().await);
    let urls = cluster.urls().join(",");
    let mode = [
        ("JACKPOT__REDIS__MODE", "cluster"),
        ("JACKPOT__REDIS__URLS", urls.as_str()),
        ("JACKPOT__REDIS__DURABILITY", "replicated"),
        ("JACKPOT__LEDGER__URL", postgres.url()),
        // The ledger may have read an event that no replica has yet.
        ("JACKPOT__LEDGER__AUTO_RESTORE", "on"),
        COMPARED_OFTEN,
    ];
    let environment = [&LIMITS[..], &mode].concat();
    let mut instances = [
        Service::start_with(&environment).await,
        Service::start_with(&environment).await,
    ];
    given(&instances[0]).await;
    let callers = [instances[0].caller(), instances[1].caller()];

    // The nodes of two jackpots, of the index and of the ledger's name.
    let killed = [
        key("c", "state"),
        "jp:index".to_owned(),
        key("a", "state"),
        "jp:ledger".to_owned(),
    ];
    // Each kill comes after so many transfers.
    let due = |round: usize| transfers() / (killed.len() + 1) * (round + 1);
    let (moved, begun) = (Cell::new(0), Cell::new(0));
    let moving = stream::iter(0..transfers())
        .map(|number| {
            let (callers, moved, begun) = (&callers, &moved, &begun);
            // A quick machine does not get ahead of the kills.
            let after = (0..killed.len())
                .filter(|round| due(*round) + AT_ONCE <= number)
                .count();
            async move {
                eventually(ENDED_WITHIN, "the kill before it", async || {
                    (begun.get() >= after).then_some(())
                })
                .await;
                let missed = fund_and_move(callers, number).await;
                moved.set(moved.get() + 1);
                missed
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0, async |all, missed| all + missed);
    let killing = async {
        for (round, of) in killed.iter().enumerate() {
            eventually(ENDED_WITHIN, "transfers go on", async || {
                (moved.get() >= due(round)).then_some(())
            })
            .await;
            assert!(moved.get() < transfers(), "it ends too early to be killed");
            begun.set(round + 1);
            instances[round % 2].kill9();
            cluster.fail_over(of).await;
            instances[round % 2].restart().await;
        }
    };
    let (missed, ()) = tokio::join!(moving, killing);
    assert!(missed > 0, "no call was ever interrupted");

    let service = &instances[0];
    until_all_are_done(service).await;
    let sql = outside(service, postgres.url()).await;
    for jackpot in JACKPOTS {
        until_clean(service, &sql, jackpot).await;
    }
    assert_nothing_was_lost_or_made(service).await;
    assert_each_moved_once(&sql).await;
    sql.close().await;
    let compared = service.command(&["reconcile", "--url", &service.url("")]);
    compared.done();
    println!(
        "{} transfers, {} failovers and kills, {missed} tries without an answer",
        transfers(),
        killed.len()
    );
}
