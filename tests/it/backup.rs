//! `jackpot backup` and `jackpot restore --from`, as an operator runs them: the drill under load, what is refused, and what
//! an interruption leaves.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::fault::load::{Load, Played};
use crate::fault::support::{
    balanced, connection, create, embedded, embedded_url, enter, entry, key, lively, until_nothing_is_pending,
};
use crate::jackpot::must_hit::four_ruled;
use crate::support::given;
use crate::support::prelude::*;
use crate::support::service::{MASTER_SECRET, redis_at};

const JACKPOT: &str = "vault";
const PLAYERS: usize = 8;

/// With this interval the service commits nothing during a test: only the command brings events into SQL.
const SELDOM: (&str, &str) = ("JACKPOT__LEDGER__POLL_INTERVAL_MS", "10000");

on_both_databases!(
    heavy_a_drill_under_load,
    heavy_what_only_redis_has_is_brought_into_the_backup_of_a_stopped_service,
    a_restore_goes_on_from_whatever_a_kill_has_left,
);

/// Directories that are removed with the test.
struct Places(TempDir);

impl Places {
    fn new() -> Self {
        let outer = tempfile::Builder::new().prefix("jackpot-backup-").tempdir();
        Self(outer.expect("a directory"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A new data directory.
    fn data() -> TempDir {
        tempfile::Builder::new()
            .prefix("jackpot-it-")
            .tempdir()
            .expect("a directory")
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn succeeded(output: &Output) -> String {
    output.done().words().into_owned()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", output.words());
    output.words().into_owned()
}

fn another(db: &LedgerDb) -> impl Future<Output = LedgerDb> + use<> {
    let postgres = !db.environment().1.is_empty();
    async move {
        if postgres {
            LedgerDb::postgres().await
        } else {
            LedgerDb::sqlite()
        }
    }
}

fn restore(data: &Path, from: &Path, environment: &[(&str, &str)]) -> Output {
    Service::command_in(data, environment, &["restore", "--from", text(from)])
}

/// Starts a service from a backup; returns it and the output of the command.
async fn restored(from: &Path, environment: &[(&str, &str)]) -> (Service, String) {
    let data = Places::data();
    // The acceptance kit puts the log of a service into its data directory, so a restore must accept that file.
    fs::write(data.path().join("service.log"), b"").expect("a file can be written");
    let told = succeeded(&restore(data.path(), from, environment));
    (Service::start_in(data, environment).await, told)
}

/// Only the owner can read the files of the backup.
fn assert_private(backup: &Path) {
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(backup), 0o700);
    for entry in fs::read_dir(backup).expect("a directory") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

async fn get_as(service: &Service, key: &str, path: &str) -> StatusCode {
    let request = crate::support::http_client().get(service.url(path)).bearer_auth(key);
    request.send().await.expect("an answer").status()
}

async fn epochs(service: &Service) -> Vec<Value> {
    let answer = service.get(&format!("/v1/jackpots/{JACKPOT}/fairness")).await;
    answer.body["epochs"].as_array().expect("epochs").clone()
}

async fn rotate(service: &Service) {
    let path = format!("/v1/jackpots/{JACKPOT}/fairness/rotate");
    service.post(&path, json!({"reason": "a drill"})).await.done();
}

/// Each entry is answered as before, and nothing is counted again. A backup under load may hold entries between two
/// draws. Recovery pays them, and this waits for it before the meters are compared.
async fn assert_answered_as_before(service: &Service, played: &[Played]) {
    until_nothing_is_pending(&mut connection(&embedded_url(service)).await, JACKPOT).await;
    let before = balanced(service, JACKPOT).await;
    let path = format!("/v1/jackpots/{JACKPOT}/entries");
    for one in played {
        let again = service.post(&path, one.entry.clone()).await;
        assert_eq!(again.is(200), &one.body, "repeated");
    }
    assert_eq!(balanced(service, JACKPOT).await, before, "nothing was counted again");
}

/// The open epoch is none of those in `seen`.
async fn assert_never_open_before(service: &Service, seen: &[Value]) {
    let open = epochs(service).await.last().cloned().expect("an epoch is open");
    let numbers: BTreeSet<_> = seen.iter().map(|epoch| epoch["epoch"].as_u64()).collect();
    assert!(
        !numbers.contains(&open["epoch"].as_u64()),
        "{open} was open before: {seen:?}"
    );
    for name in ["nonce", "commitment"] {
        assert!(
            seen.iter().all(|epoch| epoch[name] != open[name]),
            "{open} can be known: {seen:?}"
        );
    }
}

/// Number of answered entries that the service does not know any more.
async fn count_unknown(service: &Service, played: &[Played]) -> usize {
    let mut unknown = 0;
    for one in played {
        let id = one.entry["entry_id"].as_str().expect("an id");
        let path = format!("/v1/jackpots/{JACKPOT}/entries/{id}");
        unknown += usize::from(service.get(&path).await.status == StatusCode::NOT_FOUND);
    }
    unknown
}

async fn assert_reconciled(service: &Service) {
    eventually(PATIENCE, "Redis and the ledger agree", async || {
        let answer = service.get("/v1/reconciliation").await;
        answer.is(200);
        let items = answer.body["items"].as_array().cloned().unwrap_or_default();
        let clean = |item: &Value| item["lag"] == 0 && item["clean"] == true;
        (!items.is_empty() && items.iter().all(clean)).then_some(())
    })
    .await;
}

async fn issue(service: &Service, request: &str) -> Answer {
    let body = json!({"request_id": request, "user_id": request});
    service.post("/v1/coupons/shirt/issues", body).await
}

async fn define_the_others(service: &Service) {
    let coupon = json!({"name": "A shirt", "stock": 5, "per_user": 1});
    service.put("/v1/coupons/shirt", coupon).await.is(201);
    let room = json!({"capacity": 3, "session_s": 60, "waiting_timeout_s": 60});
    service.put("/v1/rooms/hall", room).await.is(201);
}

/// The drill: load, a backup under load, more load, rotations, then the loss of everything. A service then starts from
/// the backup, in an empty directory and on an empty database.
async fn heavy_a_drill_under_load(db: LedgerDb) {
    let places = Places::new();
    let (mut service, _) = embedded(&[db.environment()]).await;
    create(&service, lively(JACKPOT)).await;
    define_the_others(&service).await;
    let issued = issue(&service, "r1").await;
    issued.is(201);
    let made = service.command(&["key", "new", "--role", "play", "--name", "game-1"]);
    let play = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    let operator = service.operator_key().to_owned();
    rotate(&service).await;
    let first = Load::start_as("first", &service, JACKPOT, PLAYERS);
    first.until_answered(150).await;

    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(50).await;
    let before = first.finish().await;
    // All of `before` is acknowledged; the other players go on.
    let backup = places.at("one");
    let told = succeeded(&service.command_beside(&["backup", text(&backup)]).await);
    told.says("holds every secret");
    told.says("jackpot vault: event ");
    told.says("game-1");
    assert_private(&backup);
    assert!(!fs::exists(places.at("one.partial")).expect("a look"));
    load.until_answered(100).await;
    for _ in 0..2 {
        rotate(&service).await;
    }
    load.until_answered(50).await;
    let after = load.finish().await;
    let seen = epochs(&service).await;
    service.kill9();
    drop(service);

    let new = another(&db).await;
    drop(db);
    let (service, told) = restored(&backup, &[new.environment()]).await;
    println!("{told}");
    told.says("LOST");
    told.says("jackpot vault: event ");
    assert_eq!(service.operator_key(), operator, "the operator's key is the same");
    eventually(PATIENCE, "the game's key works", async || {
        (get_as(&service, &play, &format!("/v1/jackpots/{JACKPOT}/entries/first0-0")).await == StatusCode::OK)
            .then_some(())
    })
    .await;
    let listed = String::from_utf8(service.command(&["key", "list"]).stdout).expect("text");
    assert!(listed.contains("operator") && listed.contains("game-1"), "{listed}");
    assert_answered_as_before(&service, &before).await;
    let again = issue(&service, "r1").await;
    assert_eq!(again.is(200), &issued.body, "the same code");
    assert_eq!(service.get("/v1/rooms/hall").await.body["capacity"], 3);

    assert_never_open_before(&service, &seen).await;
    let unknown = count_unknown(&service, &after).await;
    assert!(unknown > 0, "the load went on after the backup");
    println!(
        "{} entries before the backup are there, {unknown} after it are lost",
        before.len()
    );
    enter(&service, JACKPOT, "fresh").await.done();
    assert_reconciled(&service).await;
}

/// A killed service has answered entries that SQL does not have. The backup of one kind of database is restored into
/// the other kind.
async fn heavy_what_only_redis_has_is_brought_into_the_backup_of_a_stopped_service(db: LedgerDb) {
    let places = Places::new();
    let (mut service, _) = embedded(&[db.environment(), SELDOM]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(200).await;
    let played = load.finish().await;
    let running = places.at("running");
    succeeded(&service.command_beside(&["backup", text(&running)]).await);
    let last = enter(&service, JACKPOT, "last").await;
    last.is(201);
    service.kill9();
    let stopped = places.at("stopped");
    let told = succeeded(&service.command(&["backup", text(&stopped)]));
    told.says("jackpot vault: event ");
    assert_eq!(service.redis_pids(), [], "its Redis was taken over and ended");
    let pair = [&running, &stopped].map(|place| fs::read_to_string(place.join("manifest.json")).expect("a manifest"));
    let ids = pair.map(|text| serde_json::from_str::<Value>(&text).expect("JSON")["ledger_id"].clone());
    assert_eq!(ids[0], ids[1]);

    let other = match db.environment().1 {
        "" => LedgerDb::postgres().await,
        _ => LedgerDb::sqlite(),
    };
    let (restored, _) = restored(&stopped, &[other.environment()]).await;
    assert_answered_as_before(&restored, &played).await;
    let again = restored
        .call(
            Method::POST,
            &format!("/v1/jackpots/{JACKPOT}/entries"),
            Some(entry("last")),
        )
        .await;
    assert_eq!(again.is(200), &last.body, "answered a moment before");
    assert_reconciled(&restored).await;
}

#[tokio::test]
async fn a_backup_is_put_into_an_empty_place_that_fits_or_nowhere() {
    let places = Places::new();
    let (mut service, _) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "first").await;
    first.is(201);
    let backup = places.at("one");
    succeeded(&service.command_beside(&["backup", text(&backup)]).await);
    let told = refused(&service.command_beside(&["backup", text(&backup)]).await);
    told.says("overwrites nothing");
    // The target is the data directory of a service, running or stopped.
    let told = refused(&restore(service.data_dir(), &backup, &[]));
    assert!(told.contains("keys.toml") && told.contains("ledger.sqlite"), "{told}");
    assert!(service.stop().await.success());
    refused(&restore(service.data_dir(), &backup, &[]));

    let data = Places::data();
    let left = |what: &str| {
        let names: Vec<_> = fs::read_dir(data.path())
            .expect("a directory")
            .map(|entry| entry.expect("one").file_name())
            .collect();
        assert_eq!(names, [""; 0], "{what}");
    };
    let other = ("JACKPOT__FAIRNESS__MASTER_SECRET", "60".repeat(32));
    let told = refused(&restore(data.path(), &backup, &[(other.0, &other.1)]));
    told.says("fairness.master_secret is another secret");
    told.hides(MASTER_SECRET);
    told.hides(&other.1);
    left("another draw secret");

    let redis = own_redis(&[]).await;
    redis::cmd("SET")
        .arg("somebody")
        .arg("else")
        .exec_async(&mut connection(redis.url()).await)
        .await
        .expect("SET");
    let standalone = redis_at(redis.url());
    let told = refused(&restore(data.path(), &backup, &standalone));
    told.says("Redis holds 1 keys");
    left("a Redis in use");

    let postgres = LedgerDb::postgres().await;
    let (used, _) = embedded(&[postgres.environment()]).await;
    create(&used, lively("theirs")).await;
    eventually(PATIENCE, "the database is in use", async || {
        let told = refused(&restore(data.path(), &backup, &[postgres.environment()]));
        told.contains("the database holds ledger ").then_some(())
    })
    .await;
    left("a database in use");

    let (service, told) = restored(&backup, &[]).await;
    told.says("master.secret is not written");
    assert!(
        !service.data_dir().join("master.secret").exists(),
        "the environment gives it"
    );
    let again = enter(&service, JACKPOT, "first").await;
    assert_eq!(again.is(200), &first.body);
}

#[tokio::test]
async fn a_backup_that_is_not_whole_is_refused() {
    let places = Places::new();
    let (service, _) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let backup = places.at("one");
    succeeded(&service.command_beside(&["backup", text(&backup)]).await);
    let data = Places::data();
    // One backup has a changed byte in a file, the other a truncated manifest.
    let (damaged, cut) = (places.at("damaged"), places.at("cut"));
    for to in [&damaged, &cut] {
        let copied = Command::new("cp").arg("-a").arg(&backup).arg(to).status();
        assert!(copied.expect("cp").success());
    }
    let mut bytes = fs::read(damaged.join("ledger.sqlite")).expect("a file");
    bytes[20_000] ^= 1;
    fs::write(damaged.join("ledger.sqlite"), bytes).expect("a file can be written");
    fs::remove_file(cut.join("manifest.json")).expect("a manifest");
    for (place, why) in [(&damaged, "SHA-256"), (&cut, "manifest.json")] {
        let told = refused(&restore(data.path(), place, &[]));
        assert!(told.contains("not a whole backup") && told.contains(why), "{told}");
    }
    assert_eq!(
        fs::read_dir(data.path()).expect("a directory").count(),
        0,
        "nothing was begun"
    );
}

/// Here the service takes its secrets from its environment, one of them retired. The restored service has them in
/// files.
#[tokio::test]
async fn the_secrets_of_the_environment_are_in_the_backup() {
    const MASTER: &str = "JACKPOT__FAIRNESS__MASTER_SECRET";
    const PREVIOUS: &str = "JACKPOT__FAIRNESS__PREVIOUS_SECRETS";
    let places = Places::new();
    let (signing, next, third) = ("61".repeat(32), "62".repeat(32), "63".repeat(32));
    let (mut service, _) = embedded(&[("JACKPOT__LEDGER__SIGNING_KEY", &signing)]).await;
    create(&service, lively(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "first").await;
    assert!(service.stop().await.success());
    // The open epoch uses the retired secret.
    service.set(MASTER, &next);
    service.set(PREVIOUS, MASTER_SECRET);
    service.restart().await;
    let backup = places.at("one");
    let told = succeeded(&service.command_beside(&["backup", text(&backup)]).await);
    for secret in [MASTER_SECRET, &signing, &next] {
        told.hides(secret);
    }
    let keys = service.get("/v1/keys").await.body;
    let is_there = async |environment: &[(&str, &str)], files: [Option<&str>; 2]| {
        let (restored, _) = restored(&backup, environment).await;
        for (name, content) in ["master.secret", "previous.secrets"].into_iter().zip(files) {
            let found = fs::read_to_string(restored.data_dir().join(name)).ok();
            assert_eq!(found.as_deref().map(str::trim), content, "{name}");
        }
        assert_eq!(restored.get("/v1/keys").await.body, keys, "the same key signs");
        let again = enter(&restored, JACKPOT, "first").await;
        assert_eq!(again.is(200), &first.body);
        eventually(PATIENCE, "the epoch of before is published", async || {
            let epochs = epochs(&restored).await;
            let (old, new) = (&epochs[0], epochs.last()?);
            assert_ne!(old["secret_id"], new["secret_id"]);
            old["seed"].is_string().then_some(())
        })
        .await;
    };
    is_there(&[(MASTER, "")], [Some(&next), Some(MASTER_SECRET)]).await;
    is_there(&[(MASTER, &third), (PREVIOUS, &next)], [None, Some(MASTER_SECRET)]).await;
    let data = Places::data();
    let told = refused(&restore(data.path(), &backup, &[(MASTER, &third)]));
    told.says("add that one to fairness.previous_secrets");
}

#[tokio::test]
async fn a_full_disk_leaves_no_backup() {
    let places = Places::new();
    let (service, _) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let backup = places.at("one");
    // The limit is in blocks of 512 bytes and below the size of the ledger. The signal is ignored, so that a write
    // beyond the limit fails.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 64; exec '{}' backup '{}'",
        env!("CARGO_BIN_EXE_jackpot"),
        backup.display()
    );
    let output = Command::new("sh")
        .args(["-c", &limited])
        .env("JACKPOT__DATA_DIR", service.data_dir())
        .env("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET)
        .output()
        .expect("a shell");
    refused(&output);
    assert_eq!(
        fs::read_dir(places.0.path()).expect("a directory").count(),
        0,
        "{}",
        output.words()
    );
    succeeded(&service.command_beside(&["backup", text(&backup)]).await);
}

/// The ledger cannot follow Redis. The backup reports how far the ledger is, and is made only on demand.
#[tokio::test]
async fn a_ledger_that_lacks_events_is_copied_on_demand_alone() {
    let places = Places::new();
    let (service, redis) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "first").await;
    let whole = places.at("whole");
    succeeded(&service.command_beside(&["backup", text(&whole)]).await);
    // These events exist nowhere: the stream has a gap.
    let state = key(JACKPOT, "state");
    redis::cmd("HSET")
        .arg(&state)
        .arg("n")
        .arg(999_999)
        .exec_async(&mut connection(&redis).await)
        .await
        .expect("HSET");
    let backup = places.at("one");
    let told = refused(&service.command_beside(&["backup", text(&backup)]).await);
    told.says("jackpot 'vault' is at event ");
    told.says("Redis at event 999999");
    told.says("--ledger-only");
    assert!(!backup.exists());
    let told = succeeded(
        &service
            .command_beside(&["backup", "--ledger-only", text(&backup)])
            .await,
    );
    told.says("Redis was not asked");
    let (restored, _) = restored(&backup, &[]).await;
    let again = enter(&restored, JACKPOT, "first").await;
    assert_eq!(again.is(200), &first.body);
}

/// A restore fails in the middle. Nothing is served from its result, and a repeat completes it.
#[tokio::test]
async fn an_interrupted_restore_is_refused_and_can_be_repeated() {
    let places = Places::new();
    let (service, _) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    create(&service, given::document("ruled", &four_ruled())).await;
    let first = enter(&service, JACKPOT, "first").await;
    let [one, two] = ["one", "two"].map(|name| places.at(name));
    for place in [&one, &two] {
        succeeded(&service.command_beside(&["backup", text(place)]).await);
    }
    let data = Places::data();
    // At this point the restore has put the ledger in place.
    refused(&restore(
        data.path(),
        &one,
        &[("JACKPOT__REDIS__SERVER_PROGRAM", "/bin/false")],
    ));
    assert!(data.path().join("ledger.sqlite").exists());
    let (status, log) = Service::refused(data.path(), &[]).await;
    assert!(!status.success());
    log.says("begun here and not ended");
    log.says(text(&one));
    let told = refused(&restore(data.path(), &two, &[]));
    told.says("another backup");
    succeeded(&restore(data.path(), &one, &[]));
    let told = refused(&restore(data.path(), &one, &[]));
    told.says("restored into an empty one");
    let mut service = Service::start_in(data, &[]).await;
    let again = enter(&service, JACKPOT, "first").await;
    assert_eq!(again.is(200), &first.body);
    enter(&service, "ruled", "after").await.done();
    assert!(service.stop().await.success());
    let verified = succeeded(&service.command(&["verify", "--ledger"]));
    verified.says("jackpot ruled");
}

/// What a kill leaves after each step, made by hand: the mark alone; the mark with a secret and half a ledger; the mark
/// with a schema in the database and no row.
async fn a_restore_goes_on_from_whatever_a_kill_has_left(db: LedgerDb) {
    let places = Places::new();
    let (service, _) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "first").await;
    let backup = places.at("one");
    succeeded(&service.command_beside(&["backup", text(&backup)]).await);
    let manifest = fs::read(backup.join("manifest.json")).expect("a manifest");
    let mark = json!({"backup": hex::encode(Sha256::digest(&manifest)), "from": backup}).to_string();
    let data = Places::data();
    fs::write(data.path().join("restore.unfinished"), mark).expect("a file can be written");
    fs::copy(backup.join("keys.toml"), data.path().join("keys.toml")).expect("a copy");
    fs::write(data.path().join("ledger.sqlite.partial"), b"half of a ledger").expect("a file can be written");
    let url = db.environment();
    if !url.1.is_empty() {
        succeeded(&Service::command_in(data.path(), &[url], &["migrate"]));
    }
    succeeded(&restore(data.path(), &backup, &[url]));
    assert!(!data.path().join("restore.unfinished").exists());
    assert!(!data.path().join("ledger.sqlite.partial").exists());
    let restored = Service::start_in(data, &[url]).await;
    let again = enter(&restored, JACKPOT, "first").await;
    assert_eq!(again.is(200), &first.body);
    assert_reconciled(&restored).await;
}

/// A service drops expired days of the entry index even while another process reads them.
#[tokio::test]
async fn a_day_of_the_index_that_goes_meanwhile_is_left_out() {
    let places = Places::new();
    let db = LedgerDb::postgres().await;
    let (mut service, _) = embedded(&[db.environment()]).await;
    create(&service, lively(JACKPOT)).await;
    let first = enter(&service, JACKPOT, "first").await;
    assert!(service.stop().await.success());
    let sql = db.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    let day: String = sqlx::query_scalar("SELECT day FROM entry_days")
        .fetch_one(&mut *tx)
        .await
        .expect("a day");
    let drop = sqlx::AssertSqlSafe(format!("DROP TABLE entries_{day}"));
    sqlx::query(drop).execute(&mut *tx).await.expect("it is dropped");
    tx.commit().await.expect("a commit");
    sql.close().await;
    let backup = places.at("one");
    succeeded(&service.command(&["backup", "--ledger-only", text(&backup)]));
    let (restored, _) = restored(&backup, &[]).await;
    let again = enter(&restored, JACKPOT, "first").await;
    assert_eq!(again.is(200), &first.body);
    enter(&restored, JACKPOT, "second").await.done();
    assert_reconciled(&restored).await;
}
