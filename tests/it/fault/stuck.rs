//! An event stops a stream, in the real service on PostgreSQL. The command line shows and skips it, and no answered
//! entry is forgotten. Events are discarded only when the operator types the id.

use std::collections::BTreeMap;
use std::process::Output;

use crate::fault::ledger_support::{COMPARED_OFTEN, cursor, outside, reconciliation, until_clean};
use crate::fault::support::{connection, create, enter, key, lively};
use crate::support::fixture::{Stream, by_name};
use crate::support::local::LocalServer;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

const SKIPPED: &str = "skipped";
const DISCARDED: &str = "discarded";

fn text(output: &Output) -> (Option<i32>, String) {
    let all = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8(all).expect("text"))
}

/// The command line beside a running service: a data directory of its own, with the service's signing keys.
struct Beside {
    data: tempfile::TempDir,
    environment: [(&'static str, String); 3],
}

impl Beside {
    fn of(service: &Service, redis: &str, ledger: &str) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let keys = "signing.keys";
        std::fs::copy(service.data_dir().join(keys), data.path().join(keys)).expect("the service's signing keys");
        let environment = [
            ("JACKPOT__REDIS__MODE", "standalone".to_owned()),
            ("JACKPOT__REDIS__URLS", redis.to_owned()),
            ("JACKPOT__LEDGER__URL", ledger.to_owned()),
        ];
        Self { data, environment }
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let environment = self.environment.each_ref().map(|(name, value)| (*name, value.as_str()));
        text(&Service::command_in(self.data.path(), &environment, arguments))
    }
}

/// Enters until an entry is paid by its first draw; returns that answer. One event then has both entry and payout. With
/// two events, the first may be in the ledger, and a restore finishes what it left pending.
async fn until_paid(service: &Service, jackpot: &str) -> Value {
    for n in 0..500 {
        let answer = enter(service, jackpot, &format!("late-{n}")).await;
        answer.is(201);
        let attempts = answer.body["draw"]["attempts"].as_array().expect("attempts");
        if answer.body["outcome"]["amount"].as_u64().is_some() && attempts.len() == 1 {
            return answer.body;
        }
    }
    panic!("nobody won");
}

/// Damages the event that paid last.
async fn damage(redis: &LocalServer, jackpot: &str) -> u64 {
    let mut redis = connection(redis.url()).await;
    let stream = key(jackpot, "events");
    let mut events: Stream = redis::cmd("XRANGE")
        .arg(&stream)
        .arg("-")
        .arg("+")
        .query_async(&mut redis)
        .await
        .expect("XRANGE");
    events = by_name(events);
    redis::cmd("DEL")
        .arg(&stream)
        .exec_async(&mut redis)
        .await
        .expect("DEL");
    let paid = |fields: &BTreeMap<String, String>| fields.get("claims").is_some_and(|claims| claims.contains(",paid,"));
    let last = events
        .iter_mut()
        .rev()
        .find(|(_, fields)| paid(fields))
        .expect("a payout");
    last.1.insert("type".to_owned(), "rub\u{0}bish".to_owned());
    let n = last.1["n"].parse().expect("a number");
    for (id, fields) in events {
        redis::cmd("XADD")
            .arg(&stream)
            .arg(id)
            .arg(fields)
            .exec_async(&mut redis)
            .await
            .expect("XADD");
    }
    n
}

async fn until_stuck(service: &Service, jackpot: &str) {
    // Each try has another id, because a repeat is answered in any status.
    let mut tries = 0;
    eventually(PATIENCE, "the stream stops, and the jackpot is suspended", async || {
        let (_, item) = reconciliation(service, jackpot).await;
        item["stopped"].as_str()?;
        tries += 1;
        let refused = enter(service, jackpot, &format!("not-now-{tries}")).await;
        (refused.body["code"] == "jackpot-suspended").then_some(())
    })
    .await;
}

#[tokio::test]
async fn heavy_a_stuck_event_is_skipped_and_the_winner_it_paid_is_not_forgotten() {
    let mut postgres = PrivatePostgres::start().await.expect("apt-get install postgresql");
    let (redis, url) = (own_redis(&[]).await, postgres.url());
    let mut service = service_on(redis.url(), &[("JACKPOT__LEDGER__URL", &url), COMPARED_OFTEN]).await;
    let sql = outside(&service, &url).await;
    let beside = Beside::of(&service, redis.url(), &url);
    for jackpot in [SKIPPED, DISCARDED] {
        create(&service, lively(jackpot)).await;
        for n in 0..10 {
            enter(&service, jackpot, &format!("early-{n}")).await;
        }
        until_clean(&service, &sql, jackpot).await;
    }
    postgres.stop_immediate();
    let winner = until_paid(&service, SKIPPED).await;
    let lost = until_paid(&service, DISCARDED).await;
    // A projector that has read the events waits with them for PostgreSQL, and would commit what they were.
    service.kill9();
    let n = damage(&redis, SKIPPED).await;
    damage(&redis, DISCARDED).await;
    postgres.start_again().await;
    service.restart().await;
    for jackpot in [SKIPPED, DISCARDED] {
        until_stuck(&service, jackpot).await;
    }

    let (code, shown) = beside.run(&["ledger", "show", SKIPPED]);
    assert_eq!(code, Some(1), "{shown}");
    let amount = winner["outcome"]["amount"].as_u64().expect("an amount");
    let id = winner["entry_id"].as_str().expect("an id");
    for part in [
        format!("can't apply event {n}"),
        format!("event {n}: field 'type'"),
        "type = rub\\u0000bish".to_owned(),
        format!("paid: {amount} from 'grand' to p1, entry '{id}'"),
        "Redis and the ledger agree".to_owned(),
    ] {
        shown.says(&part);
    }
    let other = (n + 1).to_string();
    let (code, refused) = beside.run(&["ledger", "skip", SKIPPED, "--event", &other, "--reason", "x"]);
    assert!(code == Some(1) && refused.contains("is not the stuck one"), "{refused}");
    let (code, refused) = beside.run(&["ledger", "skip", SKIPPED, "--event", "1", "--reason", "a\nb"]);
    assert!(code == Some(2) && refused.contains("control character"), "{refused}");
    let event = n.to_string();
    let (code, done) = beside.run(&["ledger", "skip", SKIPPED, "--event", &event, "--reason", "a bad disk"]);
    assert_eq!(code, Some(0), "{done}");

    eventually(PATIENCE, "it agrees, and is resumed", async || {
        let answer = service
            .post(&format!("/v1/jackpots/{SKIPPED}/resume"), json!({"reason": "skipped"}))
            .await;
        (answer.status == StatusCode::OK).then_some(())
    })
    .await;
    let again = enter(&service, SKIPPED, id).await;
    assert_eq!(again.is(200), &winner, "not paid again");
    let payouts = service.get(&format!("/v1/payouts?jackpot_id={SKIPPED}")).await;
    let order = &winner["outcome"]["claim_order"];
    let items = payouts.body["items"].as_array().expect("items");
    let of = items.iter().filter(|row| row["entry_id"] == id).collect::<Vec<_>>();
    assert_eq!(of.len(), 1, "{}", payouts.text);
    assert_has!(of[0], {"amount": amount, "claim_order": order});
    enter(&service, SKIPPED, "new").await.is(201);
    // The whole answer is 409 while the other stream is stuck.
    eventually(
        PATIENCE,
        "the skipped one is compared behind its last event",
        async || {
            let (_, item) = reconciliation(&service, SKIPPED).await;
            (item["clean"] == true && item["lag"] == 0 && item["stopped"].is_null()).then_some(())
        },
    )
    .await;
    let audit = service.get("/v1/audit?action=skip").await;
    audit.says("a bad disk");
    let (code, nothing) = beside.run(&["ledger", "show", SKIPPED]);
    assert!(code == Some(0) && nothing.contains("nothing is stuck"), "{nothing}");

    discarded_by_its_name_alone(&service, &beside, &lost).await;
    assert!(cursor(&sql, DISCARDED).await > 0);
    sql.close().await;
}

async fn discarded_by_its_name_alone(service: &Service, beside: &Beside, lost: &Value) {
    let discard = ["restore", "--jackpot", DISCARDED, "--discard"];
    let (code, refused) = beside.run(&discard);
    assert!(code == Some(2) && refused.contains("--confirm discarded"), "{refused}");
    let (code, refused) = beside.run(&[&discard[..], &["--confirm", SKIPPED]].concat());
    assert!(
        code == Some(2) && refused.contains("nothing was discarded"),
        "{refused}"
    );
    until_stuck(service, DISCARDED).await;
    let (code, done) = beside.run(&[&discard[..], &["--confirm", DISCARDED]].concat());
    assert_eq!(code, Some(0), "{done}");
    // The event that paid cannot be read. The command counts the others that are given up.
    for part in [
        "discarding forgets for good",
        "that can't be read",
        "entries",
        "it is not open",
    ] {
        done.says(part);
    }
    service
        .until(&format!("/v1/jackpots/{DISCARDED}"), "it is paused", |jackpot| {
            jackpot["status"] == "paused"
        })
        .await;
    let id = lost["entry_id"].as_str().expect("an id");
    enter(service, DISCARDED, id).await.is(409); // not before an operator resumes it
}
