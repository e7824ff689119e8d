//! `jackpot key`, as a user sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use jackpot::signing::SigningKeys;

use crate::support::prelude::*;

fn key(data: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .env_clear()
        .env("JACKPOT__DATA_DIR", data)
        .current_dir(data)
        .arg("key")
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_new_key_stands_alone_on_standard_output_and_only_its_hash_in_the_file() {
    let data = tempfile::tempdir().unwrap();
    let output = key(data.path(), &["new", "--create", "--role", "play", "--name", "game"]);
    assert_eq!(output.status.code(), Some(0));
    let place = data.path().join("keys.toml");
    assert_eq!(
        text(&output.stderr),
        format!("play key 'game' added to {}\n", place.display())
    );
    let raw = text(&output.stdout);
    assert_eq!((raw.lines().count(), raw.trim().len()), (1, 68));
    let file = data.path().join("keys.toml");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains("name = \"game\"") && kept.contains("role = \"play\"") && !kept.contains(raw.trim()));
    for name in ["keys.toml", "operator.key"] {
        let mode = std::fs::metadata(data.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let listed = text(&key(data.path(), &["list"]).stdout);
    listed.says("operator");
    listed.says("game");
    listed.hides("jpk_");
}

#[test]
fn failures_are_clear_and_end_with_1() {
    let data = tempfile::tempdir().unwrap();
    assert!(
        key(data.path(), &["new", "--create", "--role", "read", "--name", "a"])
            .status
            .success()
    );
    for (args, part) in [
        (
            vec!["new", "--role", "read", "--name", "a"],
            "there is a key named a already",
        ),
        (vec!["revoke", "b"], "there is no key named b"),
    ] {
        let output = key(data.path(), &args);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(part), "{output:?}");
        assert!(output.stdout.is_empty());
    }
    assert!(key(data.path(), &["revoke", "a"]).status.success());
    assert!(
        key(data.path(), &["new", "--role", "read", "--name", "a"])
            .status
            .success()
    );
}

#[test]
fn wrong_usage_ends_with_2() {
    let data = tempfile::tempdir().unwrap();
    for args in [
        vec!["new", "--role", "boss", "--name", "a"],
        vec!["new", "--role", "play", "--name", "a b"],
        vec!["new", "--role", "play", "--name", ""],
        vec!["new", "--name", "a"],
        vec!["new", "--create", "--role", "play", "--name", "a", "--codes"],
        vec!["new", "--create", "--role", "operate", "--name", "a", "--codes"],
        vec!["new", "--create", "--role", "read", "--name", "a", "--only", "spring"],
        vec![
            "new",
            "--create",
            "--role",
            "read",
            "--name",
            "a",
            "--only",
            "jackpot:a:b",
        ],
        vec!["new", "--create", "--role", "read", "--name", "a", "--expires", "0d"],
        vec![
            "new",
            "--create",
            "--role",
            "read",
            "--name",
            "a",
            "--expires",
            "2020-01-01T00:00:00Z",
        ],
        vec!["new", "--create", "--role", "read", "--name", "a", "--expires", "11y"],
        vec!["new", "--role", "read", "--name", "a"],
        vec![],
    ] {
        assert_eq!(key(data.path(), &args).status.code(), Some(2), "{args:?}");
    }
    assert!(!data.path().join("keys.toml").exists());
}

#[test]
fn the_operator_key_is_made_once() {
    let data = tempfile::tempdir().unwrap();
    assert!(
        key(data.path(), &["new", "--create", "--role", "read", "--name", "a"])
            .status
            .success()
    );
    let operator = data.path().join("operator.key");
    let first = std::fs::read_to_string(&operator).unwrap();
    // The operator's key file is removed, then the key is revoked: neither comes back unasked.
    std::fs::remove_file(&operator).unwrap();
    let revoked = key(data.path(), &["revoke", "operator"]);
    assert!(revoked.status.success() && text(&revoked.stderr).contains("\nwarning: no operate key is left"));
    assert!(
        key(data.path(), &["new", "--role", "read", "--name", "b"])
            .status
            .success()
    );
    assert!(!operator.exists() && first.starts_with("jpk_"));
    assert!(!text(&key(data.path(), &["list"]).stdout).contains("operator"));
}

#[test]
fn many_at_once_lose_none() {
    let data = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..8).map(|i| format!("k{i}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| {
                let output = key(data.path(), &["new", "--create", "--role", "play", "--name", name]);
                output.done();
            });
        }
    });
    let listed = text(&key(data.path(), &["list"]).stdout);
    assert_eq!(listed.lines().count(), 1 + 1 + names.len(), "{listed}");
}

#[test]
fn rotation_prints_the_new_signing_key_alone_and_keeps_the_old_one() {
    let data = tempfile::tempdir().unwrap();
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let output = key(data.path(), &["rotate-signing"]);
            output.done();
            let place = data.path().join("signing.keys");
            assert_eq!(text(&output.stderr), format!("added to {}\n", place.display()));
            let id = text(&output.stdout);
            assert_eq!((id.lines().count(), id.trim_end().len()), (1, 43), "{id}");
            id.trim_end().to_owned()
        })
        .collect();
    let keys = SigningKeys::load("", data.path()).unwrap();
    let published: Vec<String> = keys.public().iter().map(|key| key.id().to_owned()).collect();
    assert_eq!(published, [ids[2].as_str(), &ids[1], &ids[0]]);
    assert_eq!(keys.current().public().id(), ids[2]);
    let file = data.path().join("signing.keys");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!data.path().join("keys.toml").exists(), "API keys are another matter");
}

#[test]
fn rotation_is_refused_when_it_could_not_count() {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .env_clear()
        .env("JACKPOT__DATA_DIR", data.path())
        .env("JACKPOT__LEDGER__SIGNING_KEY", "5f".repeat(32));
    let output = command
        .current_dir(data.path())
        .args(["key", "rotate-signing"])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    said.says("the setting ledger.signing_key gives the key");
    said.hides("5f5f");
    assert!(output.stdout.is_empty() && !data.path().join("signing.keys").exists());

    assert!(key(data.path(), &["rotate-signing"]).status.success());
    let file = data.path().join("signing.keys");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = key(data.path(), &["rotate-signing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("mode 0644 lets others read it"),
        "{output:?}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn bad_settings_are_named() {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
    command
        .env_clear()
        .env("JACKPOT__HTTP__PORT", "1")
        .current_dir(data.path());
    let output = command.args(["key", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("JACKPOT__HTTP__PORT"), "{output:?}");
}

#[test]
fn a_key_is_bound_and_ends_and_the_list_says_so() {
    let data = tempfile::tempdir().unwrap();
    let made = key(
        data.path(),
        &[
            "new",
            "--create",
            "--role",
            "read",
            "--name",
            "auditor",
            "--only",
            "jackpot:spring",
            "--only",
            "room:lobby",
            "--only",
            "jackpot:spring",
            "--expires",
            "90d",
            "--codes",
        ],
    );
    made.done();
    let said = text(&made.stderr);
    said.says("it may name jackpot:spring, room:lobby alone");
    said.says("it expires at 20");
    let kept = std::fs::read_to_string(data.path().join("keys.toml")).unwrap();
    assert!(
        kept.contains("only = [\n    \"jackpot:spring\",\n    \"room:lobby\",\n]")
            || kept.contains("only = [\"jackpot:spring\", \"room:lobby\"]"),
        "{kept}"
    );
    kept.says("codes = true");
    kept.says("expires_at = \"20");
    let listed = text(&key(data.path(), &["list"]).stdout);
    let row = |name: &str| -> Vec<String> {
        let line = listed.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(
        row("NAME"),
        ["NAME", "ROLE", "CREATED", "EXPIRES", "CODES", "OWNER", "ONLY"]
    );
    assert_eq!(row("auditor")[4..], ["yes", "auditor", "jackpot:spring,room:lobby"]);
    assert_eq!(row("operator")[3..], ["never", "yes", "operator", "-"]);
    // Columns stand below their names.
    let at = |line: &str, word: &str| line.find(word).unwrap();
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(at(lines[0], "ONLY"), at(lines[2], "jackpot:spring"), "{listed}");
}

#[test]
fn a_key_names_a_hundred_subjects_at_most() {
    let data = tempfile::tempdir().unwrap();
    let subjects: Vec<String> = (0..101).map(|i| format!("jackpot:j{i}")).collect();
    let mut args = vec!["new", "--create", "--role", "read", "--name", "many"];
    for subject in &subjects {
        args.extend(["--only", subject]);
    }
    let refused = key(data.path(), &args);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("101 subjects, more than the 100"),
        "{refused:?}"
    );
    args.truncate(args.len() - 2);
    key(data.path(), &args).done();
}

#[test]
fn a_file_that_binds_to_nothing_is_refused() {
    let data = tempfile::tempdir().unwrap();
    assert!(
        key(data.path(), &["new", "--create", "--role", "read", "--name", "a"])
            .status
            .success()
    );
    let file = data.path().join("keys.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    for wrong in [
        "only = []",
        "only = [\"spring\"]",
        "only = \"jackpot:spring\"",
        "expires_at = \"soon\"",
        "codes = 1",
        "until = 1",
    ] {
        std::fs::write(&file, format!("{good}{wrong}\n")).unwrap();
        let output = key(data.path(), &["list"]);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(text(&output.stderr).contains("keys.toml"), "{output:?}");
    }
}

#[test]
fn no_service_is_made_by_accident() {
    let data = tempfile::tempdir().unwrap();
    let refused = key(data.path(), &["new", "--role", "play", "--name", "game"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    said.says(&data.path().display().to_string());
    said.says("--create");
    assert!(refused.stdout.is_empty());
    for args in [vec!["list"], vec!["revoke", "game"]] {
        let output = key(data.path(), &args);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("keys.toml"), "{output:?}");
    }
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn settings_are_named_before_or_after_the_action() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("settings.toml");
    std::fs::write(&file, format!("data_dir = {:?}\n", data.path().join("elsewhere"))).unwrap();
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackpot"));
        let output = command
            .env_clear()
            .current_dir(data.path())
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        text(&output.stdout)
    };
    run(&[
        "key", "new", "--create", "--role", "play", "--name", "one", "--config", file,
    ]);
    run(&["key", "--config", file, "new", "--role", "play", "--name", "two"]);
    for args in [["key", "list", "--config", file], ["key", "--config", file, "list"]] {
        let listed = run(&args);
        assert!(listed.contains("one") && listed.contains("two"), "{listed}");
    }
    run(&["key", "revoke", "one", "--config", file]);
    run(&["key", "--config", file, "revoke", "two"]);
    run(&["key", "rotate-signing", "--config", file]);
    run(&["key", "--config", file, "rotate-signing"]);
}

#[tokio::test]
async fn a_keys_file_in_which_nothing_can_be_written_serves() {
    let data = Service::directory();
    let keys = tempfile::tempdir().unwrap();
    let file = keys.path().join("keys.toml");
    let environment = [("JACKPOT__AUTH__KEYS_FILE", file.to_str().unwrap())];
    let made = Service::command_in(
        data.path(),
        &environment,
        &["key", "new", "--create", "--role", "play", "--name", "game"],
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    // A lock can't be made in its place, as on the read-only file system of a mounted secret.
    let lock = keys.path().join("keys.toml.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let service = Service::start_in(data, &environment).await;
    let answer = http_client()
        .get(service.url("/v1/jackpots"))
        .bearer_auth(text(&made.stdout).trim())
        .send();
    assert_eq!(answer.await.unwrap().status(), 403, "{}", service.log());
}
