//! Which Redis belongs to a ledger (promise 15): starts that died between two writes, two starts at once, an adopt, and
//! what the old pair may still write.

use std::path::Path;
use std::sync::Arc;

use jackpot::ledger::Ledger;
use jackpot::ledger::pair::Standing;
use jackpot::ledger::start::LedgerOpenError;
use jackpot::settings;
use jackpot::store::Store;
use jackpot::store::keys::LEDGER;
use sqlx::AssertSqlSafe;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::given::standalone;
use crate::support::ledger_db::stream_row;
use crate::support::local::LocalServer;
use crate::support::prelude::*;

on_both_databases!(
    the_first_start_names_the_store_everywhere,
    a_start_that_died_between_two_writes_is_finished,
    an_empty_redis_is_named_again_only_with_the_file,
    an_adopt_that_died_is_refused_until_it_is_run_again,
    a_redis_of_before_names_is_tied,
    another_ledgers_redis_is_not_adopted,
    a_running_instance_names_a_lost_redis_and_leaves_another_alone,
);

/// A Redis, and a data directory to use it from.
struct Place {
    redis: LocalServer,
    data: TempDir,
    store: Store,
}

impl Place {
    async fn new() -> Self {
        let redis = own_redis(&[]).await;
        let data = tempfile::tempdir().expect("a directory");
        let store = Store::open(&standalone(redis.url()), data.path())
            .await
            .expect("a store");
        Self { redis, data, store }
    }

    fn file(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.data.path().join("store.id")).ok()?;
        Some(text.trim().to_owned())
    }

    fn write_file(&self, text: &str) {
        std::fs::write(self.data.path().join("store.id"), text).expect("written");
    }

    async fn name(&self) -> Option<String> {
        let get = redis::cmd("GET").arg(LEDGER).to_owned();
        get.query_async(&mut self.redis.connection().await).await.expect("GET")
    }

    async fn set_name(&self, name: &str) {
        let mut set = redis::cmd(if name.is_empty() { "DEL" } else { "SET" });
        set.arg(LEDGER);
        if !name.is_empty() {
            set.arg(name);
        }
        set.exec_async(&mut self.redis.connection().await).await.expect("SET");
    }
}

/// A ledger whose file is in this place's directory, on this database.
async fn open(settings: &settings::Ledger, db: &Path, place: &Place) -> Ledger {
    let mut ledger = Ledger::open(settings, db).await.expect("a ledger");
    ledger.data_dir = place.data.path().into();
    ledger
}

async fn in_sql(ledger: &Ledger) -> Option<Uuid> {
    ledger.sql.store().await.expect("an answer").store
}

/// Sets the store's id as a start that died would leave it; nobody holds it.
async fn set_sql(ledger: &Ledger, store: &str) {
    let update = sqlx::query("UPDATE ledger SET store_id = $1").bind(store);
    assert_eq!(ledger.sql.execute(update).await.expect("changed"), 1);
}

async fn played(ledger: &Ledger) {
    let insert = stream_row("room", "lobby", 1, "");
    ledger
        .sql
        .execute(sqlx::query(AssertSqlSafe(insert)))
        .await
        .expect("an event, as far as the rule looks");
}

async fn refusal(ledger: &Ledger, store: &Store) -> String {
    match ledger.claim(store).await {
        Err(LedgerOpenError::Refused(refusal)) => refusal.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn the_first_start_names_the_store_everywhere(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    assert_eq!(in_sql(&ledger).await, None);
    ledger.claim(&place.store).await.expect("the first start");
    let id = in_sql(&ledger).await.expect("named");
    assert_eq!(place.name().await, Some(format!("{} {id}", ledger.sql.ledger_id())));
    assert_eq!(place.file(), Some(id.to_string()));
    ledger.claim(&place.store).await.expect("again");
    assert_eq!(in_sql(&ledger).await, Some(id), "nothing changes");
    // A fresh instance on the same Redis gets its file from the names in Redis and SQL.
    std::fs::remove_file(place.data.path().join("store.id")).expect("removed");
    ledger.claim(&place.store).await.expect("they agree");
    assert_eq!(place.file(), Some(id.to_string()));
}

async fn a_start_that_died_between_two_writes_is_finished(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    // It died after its first write, in Redis.
    let id = Uuid::from_u128(7);
    place.set_name(&format!("{} {id}", ledger.sql.ledger_id())).await;
    ledger.claim(&place.store).await.expect("finished");
    assert_eq!((in_sql(&ledger).await, place.file()), (Some(id), Some(id.to_string())));
    // It died after its second write, in SQL.
    std::fs::remove_file(place.data.path().join("store.id")).expect("removed");
    ledger.claim(&place.store).await.expect("finished");
    assert_eq!((in_sql(&ledger).await, place.file()), (Some(id), Some(id.to_string())));
}

async fn an_empty_redis_is_named_again_only_with_the_file(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    ledger.claim(&place.store).await.expect("the first start");
    let name = place.name().await;
    place.set_name("").await;
    ledger.claim(&place.store).await.expect("a loss");
    assert_eq!(place.name().await, name);

    for (file, says) in [
        ("", "names none"),
        (&*Uuid::from_u128(9).to_string(), "store.id names 0"),
    ] {
        place.set_name("").await;
        place.write_file(file);
        let text = refusal(&ledger, &place.store).await;
        text.says(says);
        text.says("jackpot restore --adopt");
        text.says("Redis is empty");
        assert_eq!(place.name().await, None, "nothing was written");
    }
}

async fn an_adopt_that_died_is_refused_until_it_is_run_again(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    ledger.claim(&place.store).await.expect("the first start");
    let old = in_sql(&ledger).await.expect("named");
    ledger.sql.close().await;
    // It died after its first write, in Redis: SQL is still the old pair's.
    let to = Uuid::from_u128(5);
    let ledger = open(&settings, db.data_dir(), &place).await;
    place
        .set_name(&format!("{} {to} adopting", ledger.sql.ledger_id()))
        .await;
    let text = refusal(&ledger, &place.store).await;
    text.says("run it again");
    assert_eq!(in_sql(&ledger).await, Some(old));
    // It died after its second write, in SQL.
    let adoption = ledger.adopt(&place.store).await.expect("adopted").expect("an adopt");
    assert_eq!(
        (adoption.from, adoption.to),
        (Some(old), to),
        "it goes on with the same name"
    );
    assert_eq!((in_sql(&ledger).await, place.file()), (Some(to), Some(old.to_string())));
    ledger.sql.close().await;
    let ledger = open(&settings, db.data_dir(), &place).await;
    refusal(&ledger, &place.store).await.says("run it again");
    let adoption = ledger.adopt(&place.store).await.expect("adopted").expect("an adopt");
    assert_eq!(adoption.to, to);
    ledger.adopted(&place.store, adoption).await.expect("ended");
    assert_eq!(place.file(), Some(to.to_string()));
    ledger.claim(&place.store).await.expect("they agree");
    let again = ledger.adopt(&place.store).await.expect("nothing to adopt");
    assert!(again.is_none() && in_sql(&ledger).await == Some(to), "{again:?}");
}

async fn a_redis_of_before_names_is_tied(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    played(&ledger).await;
    let text = refusal(&ledger, &place.store).await;
    text.says("jackpot restore --adopt");
    place.set_name(ledger.sql.ledger_id()).await;
    ledger.claim(&place.store).await.expect("it names the ledger");
    let id = in_sql(&ledger).await.expect("named");
    assert_eq!(place.name().await, Some(format!("{} {id}", ledger.sql.ledger_id())));
    // A second Redis from before the claim also names this ledger, which is taken.
    let other = Place::new().await;
    other.set_name(ledger.sql.ledger_id()).await;
    let here = Ledger {
        data_dir: other.data.path().into(),
        ..ledger.clone()
    };
    refusal(&here, &other.store).await.says("jackpot restore --adopt");
}

async fn another_ledgers_redis_is_not_adopted(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    let name = format!("{} {}", Uuid::from_u128(1), Uuid::from_u128(2));
    place.set_name(&name).await;
    let error = ledger.adopt(&place.store).await.expect_err("refused").to_string();
    error.says("belongs to ledger");
    error.says("ledger.url");
    assert_eq!((place.name().await, in_sql(&ledger).await), (Some(name), None));
}

async fn a_running_instance_names_a_lost_redis_and_leaves_another_alone(db: LedgerDb) {
    let (settings, place) = (db.settings(), Place::new().await);
    let ledger = open(&settings, db.data_dir(), &place).await;
    ledger.claim(&place.store).await.expect("the first start");
    let name = place.name().await.expect("named");
    let standing = async || ledger.still_ours(&place.store).await.expect("an answer");
    assert_eq!(standing().await, Standing::Ours);
    place.set_name("").await;
    assert_eq!(standing().await, Standing::Ours);
    assert_eq!(place.name().await.as_ref(), Some(&name));
    let other = format!("{} {}", ledger.sql.ledger_id(), Uuid::from_u128(3));
    place.set_name(&other).await;
    assert!(matches!(standing().await, Standing::Foreign(_)));
    assert_eq!(place.name().await, Some(other));
    place.set_name(&name).await;
    assert_eq!(standing().await, Standing::Ours);
    place.set_name("").await;
    set_sql(&ledger, &Uuid::from_u128(4).to_string()).await;
    assert!(matches!(standing().await, Standing::Taken(_)));
    assert_eq!(place.name().await, None, "it is not this instance's to name");
    let write = ledger.sql.execute(sqlx::query("DELETE FROM audit")).await;
    write.expect_err("taken").to_string().says("belongs to store");
}

/// Only on PostgreSQL: a SQLite ledger belongs to one instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_first_starts_with_a_redis_each_one_wins() {
    let db = LedgerDb::postgres().await;
    let (settings, one, other) = (db.settings(), Place::new().await, Place::new().await);
    let first = open(&settings, db.data_dir(), &one).await;
    let second = open(&settings, db.data_dir(), &other).await;
    let (a, b) = tokio::join!(first.claim(&one.store), second.claim(&other.store));
    assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
    let winner = if a.is_ok() { &one } else { &other };
    let id = in_sql(&first).await.expect("named").to_string();
    assert!(winner.name().await.is_some_and(|name| name.ends_with(&id)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_first_starts_on_one_redis_agree() {
    let db = LedgerDb::postgres().await;
    let (settings, place) = (db.settings(), Place::new().await);
    let fresh = tempfile::tempdir().expect("a directory");
    let first = open(&settings, db.data_dir(), &place).await;
    let mut second = open(&settings, db.data_dir(), &place).await;
    second.data_dir = fresh.path().into();
    let (a, b) = tokio::join!(first.claim(&place.store), second.claim(&place.store));
    a.expect("one");
    b.expect("the other");
    assert_eq!(first.sql.owner(), second.sql.owner());
}

/// A transaction that the old pair had begun is committed before the adopt, or not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_transaction_of_the_old_pair_commits_after_an_adopt() {
    let db = LedgerDb::postgres().await;
    let (settings, old, new) = (db.settings(), Place::new().await, Place::new().await);
    let theirs = open(&settings, db.data_dir(), &old).await;
    theirs.claim(&old.store).await.expect("the first start");
    let ours = Arc::new(open(&settings, db.data_dir(), &new).await);
    refusal(&ours, &new.store).await.says("jackpot restore --adopt");

    let mut begun = theirs.sql.begin().await.expect("still theirs");
    let (adopter, store) = (Arc::clone(&ours), new.store.clone());
    let adopt = tokio::spawn(async move { adopter.adopt(&store).await });
    eventually(PATIENCE, "the adopt waits for it", async || {
        let waiting: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
            .fetch_one(ours.sql.reader())
            .await
            .expect("an answer");
        (waiting > 0).then_some(())
    })
    .await;
    assert!(!adopt.is_finished());
    sqlx::query("UPDATE ledger SET one = one")
        .execute(&mut *begun)
        .await
        .expect("in time");
    begun.commit().await.expect("committed before the adopt");
    let adoption = adopt.await.expect("it ends").expect("adopted").expect("an adopt");
    let error = theirs.sql.begin().await.expect_err("taken").to_string();
    error.says(&adoption.to.to_string());
    assert!(matches!(theirs.still_ours(&old.store).await, Ok(Standing::Taken(_))));
    ours.adopted(&new.store, adoption).await.expect("ended");
}
