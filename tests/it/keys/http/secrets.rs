//! Secrets of a running service: their sources, and the clients that do not get them.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::prelude::*;
use crate::support::service::MASTER_SECRET;

#[tokio::test]
async fn the_private_redis_has_an_empty_environment() {
    let service = Service::start().await;
    let environment =
        |pid: rustix::process::Pid| std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).expect("readable");
    let own = environment(service.pid());
    String::from_utf8_lossy(&own).says(MASTER_SECRET); // there is something to leak
    let redis = service.redis_pids();
    assert_eq!(redis.len(), 1);
    assert_eq!(String::from_utf8_lossy(&environment(redis[0])), "");
}

#[tokio::test]
async fn a_variable_that_is_no_setting_is_warned_of_once_without_its_value() {
    let service = Service::start_with(&[
        ("JACKPOT_SERVICE_HOST", "10.9.8.7"),
        ("JACKPOT_TEST_ANY", "1"),
        ("JACKPOT_ENV", ""),
    ])
    .await;
    let log = service.log();
    assert_eq!(log.matches("JACKPOT_SERVICE_HOST").count(), 1, "{log}");
    log.hides("10.9.8.7");
    log.hides("JACKPOT_TEST_ANY");
    log.hides("JACKPOT_ENV");
}

#[tokio::test]
async fn files_of_keys_that_others_can_read_refuse_the_start() {
    for name in ["keys.toml", "operator.key", "signing.keys"] {
        let mut service = Service::start().await;
        assert!(service.stop().await.success());
        let file = service.data_dir().join(name);
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a mode");
        let (status, log) = Service::refused(service.data_dir(), &[]).await;
        assert!(!status.success());
        let said = format!("{}: mode 0640 lets others read it; run `chmod 600", file.display());
        log.says(&said);
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
        service.restart().await;
    }
}

#[tokio::test]
async fn a_secret_of_a_file_is_in_the_backup() {
    let place = Service::directory();
    let file = place.path().join("draw");
    std::fs::write(&file, format!("{}\n", "7a".repeat(32))).expect("written");
    std::fs::set_permissions(&file, Permissions::from_mode(0o440)).expect("a mode");
    let service = Service::start_with(&[
        ("JACKPOT__FAIRNESS__MASTER_SECRET", ""),
        ("JACKPOT__FAIRNESS__MASTER_SECRET_FILE", file.to_str().expect("text")),
    ])
    .await;
    assert!(!service.data_dir().join("master.secret").exists(), "none was made");
    let backup = place.path().join("backup");
    let made = service.command(&["backup", backup.to_str().expect("text")]);
    made.done();
    let kept = std::fs::read_to_string(backup.join("master.secret")).expect("readable");
    assert_eq!(kept.trim(), "7a".repeat(32));
    service.log().hides("7a7a");
}
