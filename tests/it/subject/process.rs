//! A service with toys, as a separate process that can be killed: the test binary, started again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use jackpot::app::capabilities;
use jackpot::cli::Cli;

use super::toy;
use crate::support::prelude::*;
use crate::support::service::PROGRAM;

/// Set in the process that is the service.
const SERVES: &str = "JACKPOT_TEST_TOYS";
/// The test below.
const ITSELF: &str = "subject::process::a_service_with_a_fourth_capability_serves_and_stops";

/// A program in `data` that runs the service with toys.
pub fn program(data: &Path) -> PathBuf {
    let binary = std::env::current_exe().expect("a test knows its binary");
    let text = format!(
        "#!/bin/sh\n{SERVES}=1 exec '{}' --exact {ITSELF} --nocapture\n",
        binary.display()
    );
    let path = data.join("with-toys");
    fs::write(&path, text).expect("a script can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a file of one's own");
    path
}

/// In the process that is the service, this is the service itself, with one more line in its list of capabilities.
#[test]
fn a_service_with_a_fourth_capability_serves_and_stops() -> ExitCode {
    if std::env::var_os(SERVES).is_some() {
        capabilities::add(vec![toy::REGISTRATION]);
        return Cli::parse_from(["jackpot", "serve"]).run();
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(serves_and_stops());
    ExitCode::SUCCESS
}

async fn serves_and_stops() {
    let data = Service::directory();
    let program = program(data.path());
    let program = program.to_str().expect("a plain path").to_owned();
    let mut service = Service::start_in(data, &[(PROGRAM, &program)]).await;
    service.get("/v1/toys").await.is(200);
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["refused"]["toys"], 0, "{}", ready.text);
    let compared = service.get("/v1/reconciliation").await;
    assert_eq!(compared.body["toys"], serde_json::json!([]), "{}", compared.text);
    service.get("/v1/audit?toy_id=a").await.is(200);
    assert!(service.stop().await.success(), "{}", service.log());
}
