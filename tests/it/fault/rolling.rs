//! Two instances are upgraded one after the other while players enter: from the program of an earlier commit
//! (`scripts/pinned.sh`) to this one, and back. A load balancer asks `/readyz`: so players use an instance that stops until
//! it has ended, and again once it is ready. One that gets no answer goes to the other instance. No entry is refused.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::fault::load::{Played, assert_each_counted_once};
use crate::fault::support::{create, lively};
use crate::support::prelude::*;
use crate::support::service::LIMITS;
use crate::support::service::{Caller, PROGRAM};

const JACKPOT: &str = "rolled";
const PLAYERS: usize = 12;
/// Entries acknowledged between two steps, so that each meets a load.
const BETWEEN: usize = 300;
/// Tries of an entry at both instances in turn: one of them always takes requests.
const TRIES: usize = 10;

/// The program of the pinned commit.
fn pinned() -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts/pinned.sh");
    let output = Command::new(script).arg("--built").output().expect("the script starts");
    assert!(
        output.status.success(),
        "the program of the pinned commit is needed: run scripts/pinned.sh\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("a path").trim().to_owned()
}

/// An instance, and whether the load balancer sends requests there.
type Target = (Caller, Arc<AtomicBool>);

/// Plays until `stop`; every entry is taken by one of the instances.
async fn play(
    player: usize,
    instances: Vec<Target>,
    stop: watch::Receiver<bool>,
    answered: Arc<AtomicUsize>,
) -> Vec<Played> {
    let path = format!("/v1/jackpots/{JACKPOT}/entries");
    let mut taken_all = Vec::new();
    while !*stop.borrow() {
        let entry = json!({"entry_id": format!("p{player}-{}", taken_all.len()), "player_id": format!("p{player}"), "stake": 100});
        let mut taken = None;
        let ready = |(_, ready): &&Target| ready.load(Ordering::Relaxed);
        for (tries, (instance, _)) in instances
            .iter()
            .cycle()
            .skip(player)
            .take(TRIES)
            .filter(ready)
            .enumerate()
        {
            // Refused, or cut off at the end of a kept connection: the other one is asked.
            let Ok(answer) = instance.post(&path, &entry).await else {
                continue;
            };
            let replayed = answer.headers.contains_key("idempotency-replayed");
            assert!(
                answer.status == StatusCode::CREATED || (answer.status == StatusCode::OK && replayed),
                "a refused entry: {} {}",
                answer.status,
                answer.text
            );
            taken = Some((answer.body, tries == 0, replayed));
            break;
        }
        let (body, at_once, replayed) = taken.expect("one of two instances takes each entry");
        answered.fetch_add(1, Ordering::Relaxed);
        taken_all.push(Played {
            entry,
            body,
            at_once,
            replayed,
        });
    }
    taken_all
}

#[tokio::test]
async fn heavy_no_entry_fails_while_two_instances_are_upgraded_and_taken_back() {
    let old = pinned();
    let redis = own_redis(&[]).await;
    let database = LedgerDb::postgres().await;
    let environment = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        database.environment(),
        (PROGRAM, &old),
    ];
    let environment = [&LIMITS[..], &environment].concat();
    let mut first = Service::start_with(&environment).await;
    let mut second = Service::start_with(&environment).await;
    create(&first, lively(JACKPOT)).await;

    let (stop, answered) = (watch::Sender::new(false), Arc::new(AtomicUsize::new(0)));
    let targets: Vec<Target> = [&first, &second]
        .map(|instance| (instance.caller(), Arc::new(AtomicBool::new(true))))
        .into();
    let mut players = JoinSet::new();
    for player in 0..PLAYERS {
        players.spawn(play(player, targets.clone(), stop.subscribe(), Arc::clone(&answered)));
    }
    let more = async || {
        let goal = answered.load(Ordering::Relaxed) + BETWEEN;
        eventually(PATIENCE, "entries are acknowledged", async || {
            (answered.load(Ordering::Relaxed) >= goal).then_some(())
        })
        .await;
    };
    more().await;
    let new = env!("CARGO_BIN_EXE_jackpot");
    // Up, and down again: both versions read what the other one wrote.
    for program in [new, &old, new] {
        for (instance, (_, ready)) in [&mut first, &mut second].into_iter().zip(&targets) {
            instance.set(PROGRAM, program);
            assert!(instance.stop().await.success());
            ready.store(false, Ordering::Relaxed);
            more().await;
            instance.restart().await;
            ready.store(true, Ordering::Relaxed);
            more().await;
        }
    }
    stop.send_replace(true);
    let mut played: Vec<Played> = players.join_all().await.into_iter().flatten().collect();
    for one in &mut played {
        // The pinned program does not know the field. A repeat answers as the program that is asked.
        let draw = one.body["draw"].as_object_mut().expect("an object");
        draw.entry("must_hit").or_insert(Value::Null);
    }
    assert_each_counted_once(&first, redis.url(), JACKPOT, &played).await;
}
