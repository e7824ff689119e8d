//! `jackpot key`, as its user sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use jackpot::signing::SigningKeys;

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
                let output = key(data.path(), &["new", "--role", "play", "--name", name]);
                assert!(output.status.success(), "{output:?}");
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
            assert!(output.status.success(), "{output:?}");
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
    assert!(
        said.contains("the setting ledger.signing_key gives the key") && !said.contains("5f5f"),
        "{said}"
    );
    assert!(output.stdout.is_empty() && !data.path().join("signing.keys").exists());

    assert!(key(data.path(), &["rotate-signing"]).status.success());
    let file = data.path().join("signing.keys");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = key(data.path(), &["rotate-signing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("mode 0644 lets others read them"),
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
