//! The commands of the tutorial, of the README and of some how-tos run as they stand there, against a service.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;
use tokio::process::Command;

use super::top;
use crate::fault::support::PATIENCE;
use crate::support::eventually;
use crate::support::service::Service;

/// Address of the service in the documentation.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// The code of a document's blocks of one language, in order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("\n```{language}\n");
    let code = |rest: &'a str| rest.split("\n```").next().unwrap_or_default();
    text.split(start.as_str()).skip(1).map(code).collect()
}

/// A service with the sample jackpot, and a folder like that of the repository in which it was started.
async fn service() -> (Service, TempDir) {
    let samples = top().join("config/jackpots").to_string_lossy().into_owned();
    let service = Service::start_with(&[("JACKPOT__JACKPOTS__DIRECTORY", samples.as_str())]).await;
    let folder = tempfile::tempdir().expect("a folder");
    symlink(service.data_dir(), folder.path().join("data")).expect("a link");
    fs::create_dir_all(folder.path().join("target/debug")).expect("a folder");
    let program = folder.path().join("target/debug/jackpot");
    symlink(env!("CARGO_BIN_EXE_jackpot"), program).expect("a link");
    (service, folder)
}

/// Runs a program in that folder until it ends well and its output has all the words. What a document reads from the
/// ledger may be there only after some milliseconds; every call of a document is safe to repeat.
async fn run((program, blocks): (&str, &[&str]), expected: &[&str], service: &Service, folder: &Path) {
    let code = blocks.join("\n").replace(ADDRESS, &service.url(""));
    eventually(PATIENCE, "the commands print what the document says", async || {
        let Output { status, stdout, stderr } = Command::new(program)
            .args(["-c", &code])
            .current_dir(folder)
            .output()
            .await
            .expect("the program runs");
        let output = String::from_utf8_lossy(&stdout).into_owned();
        let missing: Vec<_> = expected.iter().filter(|words| !output.contains(**words)).collect();
        if status.success() && missing.is_empty() {
            return Some(());
        }
        println!(
            "{missing:?} is missing in:\n{output}{}",
            String::from_utf8_lossy(&stderr)
        );
        None
    })
    .await;
}

#[tokio::test]
async fn the_tutorial_runs_as_it_stands() {
    let text = fs::read_to_string(top().join("docs/tutorial/first-jackpot.md")).expect("the tutorial");
    let (service, folder) = service().await;
    let expected = [
        r#""prize":"pool","tier":"grand""#,
        r#""pool_after":0"#,
        "  receipts    1 against their claims\n",
        "all that could be checked is right",
        r#""code":"pass-required""#,
        r#""entry_id":"cup-2","jackpot_id":"cafe","player_id":"ann""#,
        r#""entry_id":"cup-3","jackpot_id":"cafe","player_id":"bob""#,
        r#""issued":2,"voided":0,"remaining":0"#,
    ];
    run(("bash", &blocks(&text, "sh")), &expected, &service, folder.path()).await;
}

#[tokio::test]
async fn the_tutorial_of_a_daily_jackpot_runs_as_it_stands() {
    let text = fs::read_to_string(top().join("docs/tutorial/daily-jackpot.md")).expect("the tutorial");
    let (service, folder) = service().await;
    let expected = [
        r#""prize":"must-hit","tier":"mystery""#,
        "mystery cycle 0 had to be hit at ",
        r#""reversed":[{"tier":"daily","amount":3,"amount_micro":0,"uncovered":0,"uncovered_micro":0}"#,
        r#""items":[{"payout_id":"#,
        "with a published seed: triggers, and 1 entries that hit there\n",
        "all that could be checked is right",
        r#""transfer_id":"season-1","jackpot_id":"everyday","to":"next-season""#,
    ];
    run(("bash", &blocks(&text, "sh")), &expected, &service, folder.path()).await;
}

#[tokio::test]
async fn the_readme_runs_as_it_stands() {
    let text = fs::read_to_string(top().join("README.md")).expect("README.md");
    let (service, folder) = service().await;
    let mut commands = blocks(&text, "sh");
    commands.retain(|block| !block.contains("make "));
    let expected = [r#""entry_id":"round-1-p7""#, r#""meters":[{"tier":"grand","pool":0}]"#];
    run(("bash", &commands), &expected, &service, folder.path()).await;
    let python = ("python3", &blocks(&text, "python")[..]);
    run(python, &[" from grand, payout "], &service, folder.path()).await;
}

/// How-tos that begin where the tutorial has set up its terminal, and what their commands must print.
const HOW_TOS: [(&str, &[&str]); 8] = [
    (
        "define-and-play",
        &[
            r#""batch_id":"night-1","accepted":2"#,
            r#""entry_id":"night-1:2""#,
            r#""adjustment_id":"fund-1","tier":"grand","meter":"pool","amount":5000"#,
            r#""status":"paused""#,
            "n,event_id,line,at,tier,account,amount,micro",
        ],
    ),
    ("bulk-coupons", &[r#""result":"issued","request_id":"r-1""#]),
    (
        "waiting-rooms",
        &[
            r#""code":"pass-required""#,
            r#""entry_id":"e1""#,
            r#""code":"pass-expired""#,
        ],
    ),
    (
        "show-on-your-site",
        &["access-control-allow-origin: https://games.example"],
    ),
    ("verify-an-export", &["all that could be checked is right"]),
    (
        "close-and-transfer",
        &[
            r#""pool":101,"reserve":11,"overflow":0,"remainder_micro":500000}],"state":"done"}],"next_cursor":null"#,
            r#""transferred_out":112"#,
            r#""transferred_in":112"#,
            r#""action":"transfer","target":"old-wheel/end-of-season""#,
        ],
    ),
    (
        "settle-payouts",
        &[
            r#""state":"settled","approved_by":"bob-approves","settlement":{"settlement_id":"transfer-1","reference":"bank 1""#,
            r#""state":"void","#,
            r#""void_receipt":{"kind":"void""#,
            r#"{"jackpot_id":"paid-out","settlement":"tracked","approval_above":900}"#,
        ],
    ),
    (
        "cancel-a-round",
        &[
            r#""reversed":[{"tier":"grand","amount":18,"amount_micro":750000,"uncovered":0,"uncovered_micro":0}]"#,
            r#""code":"entry-reversed""#,
        ],
    ),
];

#[tokio::test]
async fn the_how_tos_run_as_they_stand() {
    let tutorial = fs::read_to_string(top().join("docs/tutorial/first-jackpot.md")).expect("the tutorial");
    let terminal = blocks(&tutorial, "sh")[0];
    let (service, folder) = service().await;
    for (name, expected) in HOW_TOS {
        let path = top().join(format!("docs/how-to/{name}.md"));
        let text = fs::read_to_string(path).expect("the how-to");
        let mut commands = vec![terminal];
        commands.extend(blocks(&text, "sh"));
        // These commands need a room that has opened.
        commands.retain(|block| !block.contains("/pre-queue"));
        println!("{name}");
        run(("bash", &commands), expected, &service, folder.path()).await;
    }
    let answers = fs::read_to_string(folder.path().join("answers.ndjson")).expect("the answers of the upload");
    assert_eq!(answers.matches(r#""result":"issued""#).count(), 3, "{answers}");
}
