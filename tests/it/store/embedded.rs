//! The private server: started, restarted, adopted, and never two on one directory.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use jackpot::settings::{Redis, RedisMode};
use jackpot::store::Store;
use rustix::process::{Pid, Signal, test_kill_process};
use tempfile::TempDir;

use crate::store::support::{call, eventually, get, put, send_signal, settings};
use crate::support::prelude::*;

fn embedded() -> Redis {
    settings(RedisMode::Embedded, &[])
}

async fn server_pid(store: &Store) -> Option<u32> {
    let info = store.run(redis::cmd("INFO").arg("server")).await.ok()?;
    redis::from_redis_value::<redis::InfoDict>(info).ok()?.get("process_id")
}

fn alive(pid: u32) -> bool {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    // A dead process that its parent has not waited for still has a number, and no command line.
    test_kill_process(pid).is_ok()
        && std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).is_ok_and(|line| !line.is_empty())
}

#[tokio::test]
async fn a_private_server_starts_and_ends_with_the_store() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&embedded(), dir.path()).await.unwrap();
    call(&store, &put(), "jp:{a}:k", "v").await.unwrap();
    let pid = server_pid(&store).await.unwrap();
    for (name, mode) in [("jackpot.lock", 0o600), ("redis", 0o700), ("redis/redis.log", 0o600)] {
        let found = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{name}");
    }
    store.close().await;
    assert!(!alive(pid));

    let again = Store::open(&embedded(), dir.path()).await.unwrap();
    assert_eq!(get(&again, "jp:{a}:k").await.unwrap().as_deref(), Some("v"));
    again.close().await;
}

#[tokio::test]
async fn a_killed_private_server_is_started_again_with_its_data() {
    let dir = TempDir::new().unwrap();
    let mut settings = embedded();
    settings.total_timeout_ms = 20_000;
    let store = Store::open(&settings, dir.path()).await.unwrap();
    let script = put();
    let mut last = server_pid(&store).await.unwrap();
    for round in 0..3 {
        let key = format!("jp:{{a}}:{round}");
        call(&store, &script, &key, "v").await.unwrap();
        send_signal(last, Signal::KILL);
        assert_eq!(get(&store, &key).await.unwrap().as_deref(), Some("v"));
        let pid = server_pid(&store).await.unwrap();
        assert_ne!(pid, last);
        last = pid;
    }
    store.close().await;
    assert!(!alive(last));
}

#[tokio::test]
async fn a_directory_in_use_is_refused_with_its_holder() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&embedded(), dir.path()).await.unwrap();
    let error = Store::open(&embedded(), dir.path()).await.unwrap_err().to_string();
    error.says(&format!("process {}", std::process::id()));
    assert_eq!(get(&store, "none").await.unwrap(), None);
    store.close().await;
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_is_refused() {
    let dir = TempDir::new().unwrap();
    let error = Store::open(&embedded(), &dir.path().join("d".repeat(100)))
        .await
        .unwrap_err()
        .to_string();
    error.says("the system allows 107");
}

#[tokio::test]
async fn a_server_that_ends_at_once_shows_its_log() {
    let dir = TempDir::new().unwrap();
    let append_dir = dir.path().join("redis/appendonlydir");
    std::fs::create_dir_all(&append_dir).unwrap();
    std::fs::write(append_dir.join("appendonly.aof.manifest"), "this is no manifest\n").unwrap();
    let error = Store::open(&embedded(), dir.path()).await.unwrap_err().to_string();
    assert!(error.contains("ended at once") && error.contains("manifest"), "{error}");
}

const OWNED_DIRECTORY: &str = "JACKPOT_TEST_OWNED_DIRECTORY";

/// Another process that owns a private server. The test that starts it passes its own name, and so runs [`own`] in it.
struct Owner(Child);

impl Owner {
    fn start(test: &str, dir: &Path) -> (Self, u32) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(OWNED_DIRECTORY, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let owner = Self(child);
        let pid = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("server ")?.1.parse().ok());
        (owner, pid.expect("the owner says its server's process id"))
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Kills a server that nobody owns, if the test fails before someone adopts it.
struct Orphan(u32);

impl Drop for Orphan {
    fn drop(&mut self) {
        if alive(self.0) {
            send_signal(self.0, Signal::KILL);
        }
    }
}

async fn own(dir: &str) {
    let store = Store::open(&embedded(), Path::new(dir)).await.unwrap();
    call(&store, &put(), "jp:{a}:k", "acknowledged").await.unwrap();
    println!("\nserver {}", server_pid(&store).await.unwrap());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_server_of_a_killed_service_is_adopted_and_supervised() {
    if let Ok(dir) = std::env::var(OWNED_DIRECTORY) {
        return own(&dir).await;
    }
    let dir = TempDir::new().unwrap();
    let (owner, pid) = Owner::start(
        "store::embedded::the_server_of_a_killed_service_is_adopted_and_supervised",
        dir.path(),
    );
    let orphan = Orphan(pid);
    let error = Store::open(&embedded(), dir.path()).await.unwrap_err().to_string();
    error.says(&format!("process {}", owner.0.id()));
    owner.kill();
    assert!(alive(pid), "kill -9 of a service leaves its server");

    let store = Store::open(&embedded(), dir.path()).await.unwrap();
    assert_eq!(server_pid(&store).await, Some(pid));
    assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("acknowledged"));

    send_signal(pid, Signal::KILL);
    let second = eventually("an adopted server is started again too", || async {
        server_pid(&store).await.filter(|second| *second != pid)
    })
    .await;
    assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("acknowledged"));
    store.close().await;
    assert!(!alive(second) && !alive(orphan.0));
}

#[tokio::test]
async fn a_frozen_server_of_a_killed_service_is_ended_before_another_starts() {
    if let Ok(dir) = std::env::var(OWNED_DIRECTORY) {
        return own(&dir).await;
    }
    let dir = TempDir::new().unwrap();
    let (owner, pid) = Owner::start(
        "store::embedded::a_frozen_server_of_a_killed_service_is_ended_before_another_starts",
        dir.path(),
    );
    let orphan = Orphan(pid);
    owner.kill();
    send_signal(pid, Signal::STOP);
    let store = Store::open(&embedded(), dir.path()).await.unwrap();
    assert!(!alive(orphan.0));
    assert_ne!(server_pid(&store).await, Some(pid));
    assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("acknowledged"));
    store.close().await;
}

#[tokio::test]
async fn an_open_directory_is_closed_before_a_server_writes_there() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("redis");
    std::fs::create_dir(&place).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&embedded(), dir.path()).await.unwrap();
    let mode = std::fs::metadata(&place).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    store.close().await;
}

#[tokio::test]
async fn the_server_of_another_directory_at_the_same_path_is_not_touched() {
    let dir = TempDir::new().unwrap();
    let data_dir = dir.path().join("data");
    std::fs::create_dir_all(data_dir.join("redis")).unwrap();
    let place = data_dir.canonicalize().unwrap().join("redis");
    // As in another container: its command line names our socket, and its directory is another one.
    let mut other = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--set-proc-title", "no", "--unixsocket"])
        .arg(place.join("redis.sock"))
        .arg("--dir")
        .arg(&place)
        .stdout(Stdio::null())
        .spawn()
        .map(Owner)
        .unwrap();
    eventually("it listens", || async {
        std::os::unix::net::UnixStream::connect(place.join("redis.sock")).ok()
    })
    .await;
    std::fs::rename(&data_dir, dir.path().join("elsewhere")).unwrap();

    let store = Store::open(&embedded(), &data_dir).await.unwrap();
    assert_ne!(server_pid(&store).await, Some(other.0.id()));
    store.close().await;
    assert!(other.0.try_wait().unwrap().is_none(), "it still runs");
}

#[tokio::test]
async fn a_server_that_is_just_ending_does_not_fail_the_start() {
    if let Ok(dir) = std::env::var(OWNED_DIRECTORY) {
        return own(&dir).await;
    }
    // The server ends at another moment in each round: before, while and after it is found.
    for head_start in [0, 1, 10, 100, 1_000] {
        let dir = TempDir::new().unwrap();
        let (owner, pid) = Owner::start(
            "store::embedded::a_server_that_is_just_ending_does_not_fail_the_start",
            dir.path(),
        );
        let orphan = Orphan(pid);
        owner.kill();
        let ending = tokio::spawn(async move {
            for _ in 0..head_start {
                tokio::task::yield_now().await;
            }
            send_signal(pid, Signal::TERM);
        });
        let mut settings = embedded();
        settings.total_timeout_ms = 20_000;
        let store = Store::open(&settings, dir.path()).await.unwrap();
        ending.await.unwrap();
        assert_eq!(get(&store, "jp:{a}:k").await.unwrap().as_deref(), Some("acknowledged"));
        store.close().await;
        assert!(!alive(orphan.0));
    }
}

#[tokio::test]
async fn somebody_elses_server_on_our_socket_is_not_touched() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("redis");
    std::fs::create_dir(&place).unwrap();
    let socket = place.canonicalize().unwrap().join("redis.sock");
    let mut other = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket)
        .stdout(Stdio::null())
        .current_dir(dir.path())
        .spawn()
        .map(Owner)
        .unwrap();
    eventually("it listens", || async {
        std::os::unix::net::UnixStream::connect(&socket).ok()
    })
    .await;
    let error = Store::open(&embedded(), dir.path()).await.unwrap_err().to_string();
    error.says("is not ours");
    assert!(other.0.try_wait().unwrap().is_none(), "it still runs");
}
