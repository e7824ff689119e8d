//! The commands of the README, the tutorials and the how-tos run as they stand there: in one clean data directory, in the
//! order in which a newcomer reads them. What a page shows as the output of a block has the shape of what the block printed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Deserializer;
use tempfile::TempDir;
use tokio::process::Command;

use super::top;
use crate::support::prelude::*;

/// Address of the service in the documentation.
const ADDRESS: &str = "http://127.0.0.1:8080";
/// A line that ends the output of a block.
const END: &str = "@@ end of block";
/// Waits as a person who reads the output does: what the next block asks the ledger for is there by then.
const READ: &str = r#"
for _ in $(seq 400); do curl -s http://127.0.0.1:8080/readyz | grep -q '"lag_events":0' && break; sleep 0.05; done
"#;

/// A page whose commands run, and words that its output must have.
type Page = (&'static str, &'static [&'static str]);

const PAGES: [Page; 16] = [
    (
        "README.md",
        &[r#""entry_id":"round-1-p7""#, r#""meters":[{"tier":"grand","pool":0}]"#],
    ),
    (
        "docs/tutorial/first-jackpot.md",
        &[
            r#""prize":"pool","tier":"grand""#,
            r#""pool_after":0"#,
            "all that could be checked is right",
            r#""code":"pass-required""#,
            r#""issued":2,"voided":0,"remaining":0"#,
        ],
    ),
    (
        "docs/tutorial/daily-jackpot.md",
        &[
            r#""prize":"must-hit","tier":"mystery""#,
            r#""reversed":[{"tier":"daily","amount":3,"amount_micro":0,"uncovered":0,"uncovered_micro":0}"#,
            "with a published seed: triggers, and 1 entries that hit there\n",
            "all that could be checked is right",
        ],
    ),
    (
        "docs/how-to/define-and-play.md",
        &[
            r#""jackpot_id":"daily","status":201"#,
            r#""batch_id":"night-1","accepted":2"#,
            r#""entry_id":"night-1:2""#,
            r#""adjustment_id":"fund-1","tier":"grand","meter":"pool","amount":5000"#,
            r#""status":"paused""#,
            "n,event_id,line,at,tier,account,amount,micro",
        ],
    ),
    ("docs/how-to/write-a-game-back-end.md", &[]),
    (
        "docs/how-to/cancel-a-round.md",
        &[
            r#""reversed":[{"tier":"grand","amount":18,"amount_micro":750000,"uncovered":0,"uncovered_micro":0}]"#,
            r#""code":"entry-reversed""#,
        ],
    ),
    (
        "docs/how-to/bulk-coupons.md",
        &[r#""result":"issued","request_id":"r-1""#],
    ),
    (
        "docs/how-to/waiting-rooms.md",
        &[
            r#""code":"pass-required""#,
            r#""entry_id":"e1""#,
            r#""code":"pass-expired""#,
        ],
    ),
    (
        "docs/how-to/show-on-your-site.md",
        &["access-control-allow-origin: https://games.example"],
    ),
    ("docs/how-to/keys-and-roles.md", &["game-1"]),
    ("docs/how-to/use-the-console.md", &[]),
    ("docs/how-to/receive-events.md", &[r#""verification_key":"whpk_"#]),
    (
        "docs/how-to/settle-payouts.md",
        &[
            r#""state":"settled","approved_by":"bob-approves","settlement":{"settlement_id":"transfer-1","reference":"bank 1""#,
            r#""state":"void","#,
            r#""void_receipt":{"kind":"void""#,
            r#"{"jackpot_id":"paid-out","settlement":"tracked","approval_above":900}"#,
        ],
    ),
    (
        "docs/how-to/close-and-transfer.md",
        &[
            r#""pool":101,"reserve":11,"overflow":0,"remainder_micro":500000}],"state":"done"}],"next_cursor":null"#,
            r#""transferred_out":112"#,
            r#""transferred_in":112"#,
            r#""action":"transfer","target":"old-wheel/end-of-season""#,
        ],
    ),
    (
        "docs/how-to/verify-an-export.md",
        &["all that could be checked is right"],
    ),
    (
        "docs/how-to/stop-everything.md",
        &[r#""stopped":true"#, r#""stopped":false"#],
    ),
];

/// How-tos whose commands need more than the service of `make run`, and what runs these commands.
const ELSEWHERE: [(&str, &str); 11] = [
    ("back-up-and-restore", "tests/it/backup.rs"),
    ("check-a-receipt", "clients/python/tests"),
    ("choose-a-redis", "tests/it/store"),
    ("deploy-with-tls", "scripts/acceptance.sh"),
    ("handle-a-suspended-jackpot", "tests/it/cli"),
    ("install-on-debian", "scripts/deploy.sh"),
    ("kubernetes", "scripts/deploy.sh"),
    ("monitor", "scripts/deploy.sh"),
    ("rotate-secrets", "tests/it/keys"),
    ("run-the-stack", "scripts/deploy.sh"),
    ("simulate-a-launch", "tests/it/simulate"),
];
/// How-tos whose commands name other machines: a broker, a database, a day of the past.
const OF_OTHER_MACHINES: [(&str, &str); 3] = [
    ("report-a-day", "tests/it/ledger"),
    ("take-requests-from-a-broker", "tests/it/intake"),
    ("upgrade-and-migrate", "tests/it/cli"),
];

/// The language of a heading, which is in no block.
const HEADING: &str = "#";

/// A fenced block: its language and its text. Or a heading.
struct Block {
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut all = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some(language) = line.trim_start().strip_prefix("```") else {
            if line.starts_with('#') {
                all.push(Block {
                    language: HEADING.to_owned(),
                    text: line.to_owned(),
                });
            }
            continue;
        };
        let text = lines.by_ref().take_while(|line| line.trim_start() != "```");
        let text: Vec<_> = text.map(|line| line.get(indent..).unwrap_or_default()).collect();
        all.push(Block {
            language: language.to_owned(),
            text: text.join("\n"),
        });
    }
    all
}

/// Commands that run, each with the output that its page shows after it, before the next heading.
fn commands(page: &str) -> Vec<(Block, Option<Block>)> {
    let mut all: Vec<(Block, Option<Block>)> = Vec::new();
    let mut prints = false;
    for block in blocks(page) {
        match (block.language.as_str(), all.last_mut()) {
            // `make run` has run. The others need a room that has opened.
            ("sh", _) if block.text.starts_with("make ") || block.text.contains("/pre-queue") => prints = false,
            ("sh", _) => {
                all.push((block, None));
                prints = true;
            }
            ("json" | "text", Some((_, shown))) if prints && shown.is_none() => *shown = Some(block),
            (HEADING, _) => prints = false,
            _ => {}
        }
    }
    all
}

/// The JSON values of an output, which may have other lines.
fn values(output: &str) -> Vec<Value> {
    let (mut all, mut rest) = (Vec::new(), output);
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut values = Deserializer::from_str(rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                all.push(value);
                rest = &rest[values.byte_offset()..];
            }
            _ => rest = &rest[1..],
        }
    }
    all
}

/// Whether a documented value has the shape of what was printed: the same fields with the same kinds of values. Null may
/// stand for any value, and a list for its first item.
fn is_alike(shown: &Value, printed: &Value) -> bool {
    match (shown, printed) {
        (Value::Null, _) | (_, Value::Null) => true,
        (Value::Object(shown), Value::Object(printed)) => {
            shown.len() == printed.len()
                && shown
                    .iter()
                    .all(|(name, one)| printed.get(name).is_some_and(|other| is_alike(one, other)))
        }
        (Value::Array(shown), Value::Array(printed)) => match (shown.first(), printed.first()) {
            (Some(shown), Some(printed)) => is_alike(shown, printed),
            (shown, _) => shown.is_none(),
        },
        (shown, printed) => std::mem::discriminant(shown) == std::mem::discriminant(printed),
    }
}

/// A line without its numbers and ids.
fn form(line: &str) -> String {
    let word = |word: &str| {
        if word.chars().any(|c| c.is_ascii_digit()) {
            "#".to_owned()
        } else {
            word.to_owned()
        }
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// What the page shows and its block did not print: the values or lines in their order.
fn missing(shown: &Block, output: &str) -> Option<String> {
    if shown.language == "json" {
        let mut printed = values(output).into_iter();
        let lacks = |value: &Value| !printed.any(|printed| is_alike(value, &printed));
        return values(&shown.text)
            .into_iter()
            .find(lacks)
            .map(|value| value.to_string());
    }
    let printed: Vec<_> = output.lines().map(form).collect();
    let lacks = |line: &&str| !printed.contains(&form(line));
    shown.text.lines().find(lacks).map(str::to_owned)
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

/// Types the commands of a page, after those that set up its terminal.
async fn type_page((name, expected): Page, terminal: &str, service: &Service, folder: &Path) {
    let page = fs::read_to_string(top().join(name)).expect("the page");
    let commands = commands(&page);
    let typed = commands
        .iter()
        .map(|(block, _)| format!("{}\necho '{END}'\n{READ}", block.text));
    let code = format!("{terminal}\n{}", typed.collect::<String>()).replace(ADDRESS, &service.url(""));
    let output = Command::new("bash")
        .args(["-c", &code])
        .current_dir(folder)
        .output()
        .await
        .expect("bash");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{name}:\n{stdout}{stderr}");
    let outputs: Vec<_> = stdout.split(END).collect();
    for ((block, shown), output) in commands.iter().zip(outputs) {
        let shows_refusal = shown.as_ref().is_some_and(|shown| shown.text.contains("/problems/"));
        assert!(
            shows_refusal || !output.contains("\"/problems/"),
            "{name}: refused:\n{}\n{output}{stderr}",
            block.text
        );
        if let Some(shown) = shown {
            let missing = missing(shown, output);
            assert_eq!(
                missing, None,
                "{name}: not printed by\n{}\nbut\n{output}{stderr}",
                block.text
            );
        }
    }
    for words in expected {
        assert!(stdout.contains(words), "{name}: no {words} in\n{stdout}{stderr}");
    }
}

#[tokio::test]
async fn the_documented_commands_run_one_page_after_the_other() {
    let tutorial = fs::read_to_string(top().join("docs/tutorial/first-jackpot.md")).expect("the tutorial");
    let terminal = commands(&tutorial).swap_remove(0).0.text;
    let (service, folder) = service().await;
    for page in PAGES {
        // The tutorial sets its terminal up itself, and the README needs none.
        let terminal = if page.0.starts_with("docs/how-to") {
            terminal.as_str()
        } else {
            ""
        };
        type_page(page, terminal, &service, folder.path()).await;
    }
    let answers = fs::read_to_string(folder.path().join("answers.ndjson")).expect("the answers of the upload");
    assert_eq!(answers.matches(r#""result":"issued""#).count(), 3, "{answers}");
    the_program_of_the_readme_wins(&service, folder.path()).await;
}

async fn the_program_of_the_readme_wins(service: &Service, folder: &Path) {
    let page = fs::read_to_string(top().join("README.md")).expect("README.md");
    let program = blocks(&page).into_iter().find(|block| block.language == "python");
    let program = program.expect("a program").text.replace(ADDRESS, &service.url(""));
    let output = Command::new("python3")
        .args(["-c", &program])
        .current_dir(folder)
        .output()
        .await;
    let output = output.expect("python3");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains(" from grand, payout "),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_how_to_is_typed_or_runs_elsewhere() {
    let pages = fs::read_dir(top().join("docs/how-to")).expect("the how-tos");
    for page in pages.map(|page| page.expect("a page").path()) {
        let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let typed = PAGES
            .iter()
            .filter(|(page, _)| *page == format!("docs/how-to/{name}.md"))
            .count();
        let elsewhere = ELSEWHERE
            .iter()
            .chain(&OF_OTHER_MACHINES)
            .filter(|(page, _)| *page == name);
        let elsewhere: Vec<_> = elsewhere.map(|(_, by)| top().join(by)).collect();
        assert_eq!(typed + elsewhere.len(), 1, "{name}");
        assert!(elsewhere.iter().all(|by| by.exists()), "{name}: {elsewhere:?}");
    }
}
