//! A command that a signal ends leaves nothing behind.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::prelude::*;
use crate::support::service::MASTER_SECRET;

const PATIENCE: Duration = Duration::from_secs(20);

fn start(service: &Service, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_jackpot"))
        .args(arguments)
        .current_dir(service.data_dir())
        .env("JACKPOT__DATA_DIR", service.data_dir())
        .env("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary that cargo built starts")
}

#[tokio::test]
async fn heavy_a_command_that_is_interrupted_ends_the_redis_that_it_started() {
    let mut service = Service::start().await;
    assert!(service.stop().await.success());
    assert!(service.redis_pids().is_empty());
    for (arguments, signal, name) in [
        (["reconcile"], Signal::INT, "SIGINT"),
        (["reconcile"], Signal::TERM, "SIGTERM"),
        (["restore"], Signal::INT, "SIGINT"),
    ] {
        let command = start(&service, &arguments);
        eventually(PATIENCE, "the command has started its Redis", async || {
            (!service.redis_pids().is_empty()).then_some(())
        })
        .await;
        kill_process(Pid::from_child(&command), signal).expect("a process started here can be signalled");
        let output = command.wait_with_output().expect("a child can be waited for");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains(&format!("ended by {name}")),
            "{arguments:?}: {told}"
        );
        eventually(PATIENCE, "no Redis is left", async || {
            service.redis_pids().is_empty().then_some(())
        })
        .await;
    }
    // The next command completes what the signal interrupted.
    let again = service.command(&["restore"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
}
