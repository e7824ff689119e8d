//! The door of an instance: it checks passes in memory, knows in time which were taken back, and lets nobody in without
//! knowing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jackpot::room::door::{Door, DoorError, NoPass};
use jackpot::room::known::Registry;
use jackpot::room::pass::PassError;
use jackpot::room::rooms::{Rooms, TicketNow};
use jackpot::room::scripts::{Place, Visit, Wanted};
use jackpot::room::tokens::Tokens;
use jackpot::signing::{self, SigningKeys};
use jackpot::sql::Sql;
use jackpot::store::Store;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::secret::MasterSecret;

use crate::room::fixture::{RoomFixture, definition};
use crate::support::given::{SECRET, operator, standalone};
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

/// The signing key of an instance.
pub const KEY: &str = "5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f";
/// No pass is good for longer than this after it was taken back. It includes a margin for a machine that runs other
/// tests.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// An instance of the rooms, without HTTP.
pub struct Instance {
    pub rooms: Rooms,
    door: Door,
    _directory: tempfile::TempDir,
}

impl Instance {
    pub async fn on(url: &str, sql: &Sql, key: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(url), directory.path())
            .await
            .expect("the store opens");
        let registry = Arc::new(Registry::new(store.clone()));
        let keys = Arc::new(SigningKeys::load(key, Path::new("")).expect("a key"));
        let tokens = Arc::new(Tokens::new("jackpot".to_owned(), keys, sql.clone()));
        let rooms = Rooms::new(
            store.clone(),
            Arc::clone(&registry),
            Arc::clone(&tokens),
            Arc::new(Metrics::new()),
            MasterSecret::new(SECRET),
            600,
        );
        Self {
            rooms,
            door: Door::new(store, registry, tokens),
            _directory: directory,
        }
    }

    pub async fn define(&self, id: &Id, change: &Value) {
        let definition = definition(change);
        let put = self.rooms.define(id, &definition, Wanted::Any, &operator()).await;
        assert!(put.expect("defined").created);
    }

    /// Lets a user in; returns the ticket and its pass.
    pub async fn admit(&self, id: &Id, user: &str) -> (TicketNow, String) {
        let now = self.rooms.join(id, &user_id(user)).await.expect("joined");
        let Place::Admitted { end_ms, .. } = now.seen.place else {
            panic!("{now:?}");
        };
        let pass = self
            .rooms
            .tokens
            .pass(id, &now.seen.user, now.seen.ticket, now.now_ms, end_ms);
        (now, pass)
    }

    pub async fn check(&self, id: &Id, user: &str, pass: &str) -> Result<(), DoorError> {
        self.door.check(id, &user_id(user), Some(pass)).await
    }
}

fn user_id(user: &str) -> PersonId {
    PersonId::parse(user).expect("an id")
}

fn room() -> Id {
    Id::parse(&TestRedis::id("room")).expect("an id")
}

#[tokio::test]
async fn who_left_at_one_instance_is_refused_at_the_other() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let sql = db.open().await;
    let (one, other) = (
        Instance::on(redis.url(), &sql, KEY).await,
        Instance::on(redis.url(), &sql, KEY).await,
    );
    let id = room();
    one.define(&id, &json!({"capacity": 2})).await;
    let (gone, pass) = one.admit(&id, "ann").await;
    let (_, stays) = one.admit(&id, "bob").await;
    for instance in [&one, &other] {
        instance.check(&id, "ann", &pass).await.expect("good everywhere");
    }
    one.rooms.leave(&id, gone.seen.ticket).await.expect("left");
    for instance in [&one, &other] {
        eventually(KNOWN_WITHIN, "it is known that she left", async || {
            let refused = instance.check(&id, "ann", &pass).await.err()?;
            assert!(matches!(refused, DoorError::Expired(_)), "{refused}");
            Some(())
        })
        .await;
        instance.check(&id, "bob", &stays).await.expect("he stays");
    }
    // An instance that starts now knows it from its first check on.
    let third = Instance::on(redis.url(), &sql, KEY).await;
    let refused = third.check(&id, "ann", &pass).await.expect_err("she left");
    assert!(matches!(refused, DoorError::Expired(_)), "{refused}");
}

#[tokio::test]
async fn more_passes_taken_back_than_one_page_are_all_known() {
    let db = LedgerDb::sqlite();
    let fixture = RoomFixture::with(&json!({"capacity": 6_000})).await;
    let instance = Instance::on(fixture.redis.url(), &db.open().await, KEY).await;
    let users = (0..5_300).map(|n| format!("u{n}")).collect::<Vec<_>>();
    for some in users.chunks(200) {
        let seen = fixture.joined(some.iter().map(String::as_str)).await;
        let leaving = seen.iter().map(|seen| Visit::Leave(seen.ticket)).collect::<Vec<_>>();
        fixture.visit(&leaving).await;
    }
    let (now, pass) = instance.admit(&fixture.id, "last").await;
    instance.check(&fixture.id, "last", &pass).await.expect("she is in");
    instance.rooms.leave(&fixture.id, now.seen.ticket).await.expect("left");
    eventually(KNOWN_WITHIN, "the last one is known", async || {
        instance.check(&fixture.id, "last", &pass).await.err()
    })
    .await;
}

#[tokio::test]
async fn a_pass_is_over_with_its_session_by_the_clock_of_redis() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let instance = Instance::on(redis.url(), &db.open().await, KEY).await;
    let id = room();
    instance.define(&id, &json!({"capacity": 1, "session_s": 1})).await;
    let (now, pass) = instance.admit(&id, "ann").await;
    let Place::Admitted { end_ms, .. } = now.seen.place else {
        panic!("{now:?}");
    };
    eventually(PATIENCE, "the session is over", async || {
        instance.check(&id, "ann", &pass).await.err()
    })
    .await;
    let snapshot = instance.rooms.snapshot(&id).await.expect("read");
    assert!(snapshot.now_ms >= end_ms - 1_000, "not much too early: {snapshot:?}");
    // Once the room knows the end too, it lets the next user in, whose pass is good. This session is longer, because on
    // a busy machine one second may be over before the check.
    let longer = definition(&json!({"capacity": 1, "session_s": 600}));
    let put = instance.rooms.define(&id, &longer, Wanted::Any, &operator()).await;
    assert!(!put.expect("defined").created);
    let next = eventually(PATIENCE, "the next one is in", async || {
        let now = instance.rooms.join(&id, &user_id("bob")).await.expect("joined");
        let Place::Admitted { end_ms, .. } = now.seen.place else {
            return None;
        };
        Some(
            instance
                .rooms
                .tokens
                .pass(&id, &now.seen.user, now.seen.ticket, now.now_ms, end_ms),
        )
    })
    .await;
    instance.check(&id, "bob", &next).await.expect("in");
}

#[tokio::test]
async fn without_redis_nobody_is_let_in_on_what_is_more_than_a_second_old() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let proxy = ChaosProxy::in_front_of(redis.url()).await;
    let instance = Instance::on(proxy.url(), &db.open().await, KEY).await;
    let id = room();
    instance.define(&id, &json!({"capacity": 1})).await;
    let (_, pass) = instance.admit(&id, "ann").await;
    instance.check(&id, "ann", &pass).await.expect("in");
    proxy.down();
    eventually(PATIENCE, "it is not known any more", async || {
        let refused = instance.check(&id, "ann", &pass).await.err()?;
        assert!(matches!(refused, DoorError::Unknown(_)), "{refused}");
        Some(())
    })
    .await;
    // A mistake that does not depend on who left is still named.
    let refused = instance.check(&id, "bob", &pass).await.expect_err("not his");
    assert!(matches!(refused, DoorError::Required(NoPass::OtherPlayer)), "{refused}");
    proxy.pass();
    eventually(PATIENCE, "it is known again", async || {
        instance.check(&id, "ann", &pass).await.ok()
    })
    .await;
}

#[tokio::test]
async fn each_thing_that_is_wrong_is_told_apart() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let sql = db.open().await;
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    let (id, other) = (room(), room());
    instance.define(&id, &json!({"capacity": 1})).await;
    let (now, pass) = instance.admit(&id, "ann").await;
    let wrong = |result: Result<(), DoorError>| match result.expect_err("refused") {
        DoorError::Required(why) => why,
        error => panic!("{error}"),
    };
    let ann = user_id("ann");
    assert_eq!(wrong(instance.door.check(&id, &ann, None).await), NoPass::None);
    assert_eq!(wrong(instance.check(&other, "ann", &pass).await), NoPass::OtherRoom);
    assert_eq!(wrong(instance.check(&id, "bob", &pass).await), NoPass::OtherPlayer);
    let cut = &pass[..pass.len() - 3];
    assert_eq!(
        wrong(instance.check(&id, "ann", &format!("{cut}AAA")).await),
        NoPass::NotOurs(PassError::BadSignature)
    );
    let keys = Arc::new(SigningKeys::load(KEY, Path::new("")).expect("a key"));
    let renamed = Tokens::new("another".to_owned(), keys, sql.clone());
    let foreign = renamed.pass(&id, &ann, now.seen.ticket, now.now_ms, now.now_ms + 60_000);
    assert_eq!(wrong(instance.check(&id, "ann", &foreign).await), NoPass::OtherIssuer);
}

#[tokio::test]
async fn the_keys_of_other_instances_come_from_the_ledger() {
    let (redis, db) = (TestRedis::start().await, LedgerDb::sqlite());
    let sql = db.open().await;
    let instance = Instance::on(redis.url(), &sql, KEY).await;
    let id = room();
    instance.define(&id, &json!({"capacity": 1})).await;
    let (now, _) = instance.admit(&id, "ann").await;
    let stranger = Arc::new(SigningKeys::load(&"60".repeat(32), Path::new("")).expect("a key"));
    let tokens = Tokens::new("jackpot".to_owned(), Arc::clone(&stranger), sql.clone());
    let pass = tokens.pass(&id, &now.seen.user, now.seen.ticket, now.now_ms, now.now_ms + 60_000);
    let refused = instance
        .check(&id, "ann", &pass)
        .await
        .expect_err("nobody knows that key");
    let unknown = DoorError::Required(NoPass::NotOurs(PassError::UnknownKey));
    assert_eq!(refused.to_string(), unknown.to_string());
    signing::publish(&sql, &stranger).await.expect("published");
    eventually(PATIENCE, "the ledger says that it is one of ours", async || {
        instance.check(&id, "ann", &pass).await.ok()
    })
    .await;
}

#[tokio::test]
async fn behind_a_loss_of_redis_what_was_taken_back_before_is_still_known() {
    let (redis, db) = (TestRedis::own(&[]).await, LedgerDb::sqlite());
    let instance = Instance::on(redis.url(), &db.open().await, KEY).await;
    let id = room();
    instance.define(&id, &json!({"capacity": 2})).await;
    let (gone, pass) = instance.admit(&id, "gone").await;
    let (_, stays) = instance.admit(&id, "stays").await;
    instance.rooms.leave(&id, gone.seen.ticket).await.expect("left");
    eventually(KNOWN_WITHIN, "it is known that one left", async || {
        instance.check(&id, "gone", &pass).await.err()
    })
    .await;
    // Redis comes back as it was before the two came: their tickets, passes and the leaving are gone.
    let mut connection = redis.connection().await;
    let keys = jackpot::store::keys::RoomKeys::new(&id);
    for key in [&keys.tickets, &keys.users, &keys.active, &keys.revoked, &keys.ended] {
        redis::cmd("DEL")
            .arg(key)
            .exec_async(&mut connection)
            .await
            .expect("DEL");
    }
    for field in ["passes", "revocations", "admitted", "joins"] {
        let set = redis::cmd("HSET").arg(&keys.state).arg(field).arg(0).clone();
        set.exec_async(&mut connection).await.expect("HSET");
    }
    // A user who comes now waits until every pass that may be valid has expired.
    let waits = instance.rooms.join(&id, &user_id("next")).await.expect("joined");
    assert!(matches!(waits.seen.place, Place::Waiting { .. }), "{waits:?}");
    assert_eq!(waits.eta_s, None);
    let shown = instance.rooms.shown(&id).await.expect("read");
    assert!(shown.snapshot.hold_ms.is_some(), "{shown:?}");
    for _ in 0..3 {
        let refused = instance.check(&id, "gone", &pass).await.expect_err("still known");
        assert!(matches!(refused, DoorError::Expired(_)), "{refused}");
    }
    instance
        .check(&id, "stays", &stays)
        .await
        .expect("his pass is good until it expires");
}

/// More passes than an instance once remembered. It then refused every pass that was made before the last of them.
#[tokio::test]
async fn however_many_passes_were_taken_back_a_valid_one_is_good() {
    const MANY: u64 = 130_000;
    let db = LedgerDb::sqlite();
    let fixture = RoomFixture::with(&json!({"capacity": 2})).await;
    let instance = Instance::on(fixture.redis.url(), &db.open().await, KEY).await;
    let (now, pass) = instance.admit(&fixture.id, "stays").await;
    let (gone, taken_back) = instance.admit(&fixture.id, "gone").await;
    instance.rooms.leave(&fixture.id, gone.seen.ticket).await.expect("left");
    // As if this many others had come in and left in the next seconds.
    let fill = redis::Script::new(
        "for i = 1, ARGV[1] do
           redis.call('ZADD', KEYS[2], 1000 + i, string.format('%032x', i) .. ARGV[2])
         end
         redis.call('HSET', KEYS[1], 'passes', 1000 + ARGV[1], 'revocations', 1000 + ARGV[1])",
    );
    let mut connection = fixture.redis.connection().await;
    fill.key(&fixture.keys.state)
        .key(&fixture.keys.revoked)
        .arg(MANY)
        .arg(format!(" {} {}", now.now_ms + 280_000, now.now_ms + 5_000))
        .invoke_async::<()>(&mut connection)
        .await
        .expect("filled");
    eventually(PATIENCE, "the door has read all of them", async || {
        let known = instance.check(&fixture.id, "gone", &taken_back).await;
        assert!(
            matches!(known, Err(DoorError::Expired(_) | DoorError::Unknown(_))),
            "{known:?}"
        );
        matches!(known, Err(DoorError::Expired(_))).then_some(())
    })
    .await;
    instance.check(&fixture.id, "stays", &pass).await.expect("he stays");
}
