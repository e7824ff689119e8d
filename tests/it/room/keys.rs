//! The keys that sign passes: keys of other instances, retired keys, and a database that does not say which keys exist.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use jackpot::room::door::{DoorError, NoPass};
use jackpot::room::pass::{self, Claims, PASS, PassError};
use jackpot::room::scripts::Place;
use jackpot::room::tokens::Tokens;
use jackpot::signing::{self, SigningFile, SigningKeys};
use jackpot::sql::Sql;
use jackpot_core::ids::Id;
use tokio::time::timeout;

use crate::room::door::{Instance, KEY};
use crate::support::ledger_db;
use crate::support::postgres_local::PrivatePostgres;
use crate::support::prelude::*;

fn id(name: &str) -> Id {
    Id::parse(name).expect("an id")
}

#[tokio::test]
async fn behind_a_frozen_database_those_with_an_unknown_key_are_answered_together() {
    let (redis, postgres) = (
        TestRedis::start().await,
        PrivatePostgres::start().await.expect("apt-get install postgresql"),
    );
    let directory = tempfile::tempdir().expect("a directory");
    let sql = Sql::open(&ledger_db::settings(&postgres.url()), directory.path()).await;
    let sql = sql.expect("the database answers");
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    let room = id(&TestRedis::id("room"));
    instance.define(&room, &json!({"capacity": 1})).await;
    let (now, pass) = instance.admit(&room, "ann").await;
    let stranger = Arc::new(SigningKeys::load(&"61".repeat(32), Path::new("")).expect("a key"));
    let tokens = Tokens::new("jackpot".to_owned(), stranger, sql.clone());
    let forged = tokens.pass(&room, &now.seen.user, now.seen.ticket, now.now_ms, now.now_ms + 60_000);
    postgres.freeze();
    let checks = (0..20).map(|_| instance.check(&room, "ann", &forged));
    let answers = timeout(Duration::from_secs(8), join_all(checks)).await;
    for answer in answers.expect("one waits for the database, all the others for that one") {
        let error = answer.expect_err("not known");
        assert!(matches!(error, DoorError::Unknown(_)), "{error}");
    }
    instance.check(&room, "ann", &pass).await.expect("a key that is known");
    postgres.thaw();
}

#[tokio::test]
async fn a_retired_key_makes_no_new_passes_and_none_that_lasts() {
    let (redis, db, directory) = (
        TestRedis::start().await,
        LedgerDb::sqlite(),
        tempfile::tempdir().expect("a directory"),
    );
    let sql = db.open().await;
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    let room = id(&TestRedis::id("room"));
    instance.define(&room, &json!({"capacity": 1})).await;
    let (now, _) = instance.admit(&room, "ann").await;
    let Place::Admitted { end_ms, .. } = now.seen.place else {
        panic!("{now:?}");
    };
    // The keys of another instance, which then rotates its key.
    let load = || SigningKeys::load("", directory.path()).expect("keys");
    let old = load();
    signing::publish(&sql, &old).await.expect("published");
    let stolen = old.current();
    let claims = |iat: i64, exp: i64| Claims {
        iss: "jackpot".to_owned(),
        aud: room.clone(),
        sub: now.seen.user.clone(),
        jti: now.seen.ticket,
        iat,
        exp,
    };
    let (iat, exp) = (now.now_ms / 1_000, end_ms / 1_000);
    let good = pass::sign(&stolen, PASS, &claims(iat, exp));
    let later = pass::sign(&stolen, PASS, &claims(iat + 100, exp + 100));
    instance.check(&room, "ann", &good).await.expect("good");
    instance.check(&room, "ann", &later).await.expect("its key signs");
    SigningFile::of("", directory.path())
        .expect("a file")
        .rotate()
        .expect("rotated");
    signing::publish(&sql, &load()).await.expect("published");
    // An instance that reads the keys now; the other one does so within half a minute.
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    instance.check(&room, "ann", &good).await.expect("it was made before");
    let lasting = pass::sign(&stolen, PASS, &claims(iat - 100, exp + 1_000_000));
    for (forged, why) in [(later, PassError::Retired), (lasting, PassError::TooLong)] {
        match instance.check(&room, "ann", &forged).await.expect_err("refused") {
            DoorError::Required(NoPass::NotOurs(error)) => assert_eq!(error, why),
            error => panic!("{error}"),
        }
    }
    let new = pass::sign(&load().current(), PASS, &claims(iat + 100, exp + 100));
    instance.check(&room, "ann", &new).await.expect("the new key signs");
    // After the key is put back, it signs again.
    signing::publish(&sql, &old).await.expect("published");
    let back = signing::all_published(&sql).await.expect("read");
    let back = back.iter().find(|one| one.key.id() == stolen.public().id());
    assert_eq!(back.expect("it is there").retired_ms, None);
}

/// Strangers bring names of keys all the time. A pass of a new key is good at its first use all the same. The service
/// asks the database about once a second.
#[tokio::test]
async fn a_new_key_is_honoured_though_strangers_ask_for_unknown_ones() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let sql = db.open().await;
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    let room = id(&TestRedis::id("room"));
    instance.define(&room, &json!({"capacity": 1})).await;
    let (now, _) = instance.admit(&room, "ann").await;
    let pass_of = |digits: u8| {
        let keys = Arc::new(SigningKeys::load(&format!("{digits:02x}").repeat(32), Path::new("")).expect("a key"));
        let tokens = Tokens::new("jackpot".to_owned(), Arc::clone(&keys), sql.clone());
        (
            keys,
            tokens.pass(&room, &now.seen.user, now.seen.ticket, now.now_ms, now.now_ms + 60_000),
        )
    };
    let unknown = |result: Result<(), DoorError>| match result.expect_err("refused") {
        DoorError::Required(NoPass::NotOurs(error)) => assert_eq!(error, PassError::UnknownKey),
        error => panic!("{error}"),
    };
    let began = Instant::now();
    let strangers = async {
        for digits in 0x80..0x84 {
            unknown(instance.check(&room, "ann", &pass_of(digits).1).await);
        }
    };
    let newcomer = async {
        let (keys, pass) = pass_of(0x62);
        unknown(instance.check(&room, "ann", &pass).await);
        let (other, good) = pass_of(0x63);
        signing::publish(&sql, &other).await.expect("published");
        instance.check(&room, "ann", &good).await.expect("it is in the ledger");
        // A key that was unknown before it was published is known some seconds later.
        signing::publish(&sql, &keys).await.expect("published");
        eventually(PATIENCE, "the key is known", async || {
            instance.check(&room, "ann", &pass).await.ok()
        })
        .await;
    };
    tokio::join!(strangers, newcomer);
    let at_most = began.elapsed().as_secs() + 2;
    assert!(
        instance.rooms.tokens.readings() <= at_most,
        "{} readings in {at_most} s",
        instance.rooms.tokens.readings()
    );
    // Repeated requests with one unknown key do not cost a reading each.
    let (forged, before, began) = (pass_of(0x84).1, instance.rooms.tokens.readings(), Instant::now());
    for _ in 0..200 {
        unknown(instance.check(&room, "ann", &forged).await);
    }
    let read = instance.rooms.tokens.readings() - before;
    assert!(
        read <= 1 + began.elapsed().as_secs(),
        "{read} readings in {:?}",
        began.elapsed()
    );
}
