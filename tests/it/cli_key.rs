//! `jackpot key`, as its user sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

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
    let output = key(data.path(), &["new", "--role", "play", "--name", "game"]);
    assert_eq!(output.status.code(), Some(0));
    let place = data.path().join("keys.toml");
    assert_eq!(text(&output.stderr), format!("added to {}\n", place.display()));
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
    assert!(
        listed.contains("operator") && listed.contains("game") && !listed.contains("jpk_"),
        "{listed}"
    );
}

#[test]
fn failures_are_clear_and_end_with_1() {
    let data = tempfile::tempdir().unwrap();
    assert!(
        key(data.path(), &["new", "--role", "read", "--name", "a"])
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
        key(data.path(), &["new", "--role", "read", "--name", "a"])
            .status
            .success()
    );
    let operator = data.path().join("operator.key");
    let first = std::fs::read_to_string(&operator).unwrap();
    // Taken away to a safe place, and revoked: neither comes back by itself.
    std::fs::remove_file(&operator).unwrap();
    let revoked = key(data.path(), &["revoke", "operator"]);
    assert!(revoked.status.success() && text(&revoked.stderr).starts_with("warning: no operate key is left"));
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
                let output = key(data.path(), &["new", "--role", "play", "--name", name]);
                assert!(output.status.success(), "{output:?}");
            });
        }
    });
    let listed = text(&key(data.path(), &["list"]).stdout);
    assert_eq!(listed.lines().count(), 1 + 1 + names.len(), "{listed}");
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
