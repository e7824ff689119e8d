//! `jackpot verify`: offline from an export or a room's pre-queue, or on the configured ledger.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use futures_util::StreamExt;
use jackpot_core::ids::Id;
use jackpot_core::receipt::Head;
use jackpot_core::signing::Jwks;

use super::SettingsArgs;
use super::export::Ledger;
use crate::proof::verify::pre_queue::OrderFormat;
use crate::proof::verify::{PreQueue, Report, Trusted, Verified, Verifier, verify_any};
use crate::settings::Settings;

/// Ids of jackpots in one read.
const JACKPOTS_PAGE: i64 = 100;

/// Recompute the hash chain, balances, draws and receipts of an exported ledger, or the order of a room's pre-queue
/// (`GET /v1/rooms/{id}/pre-queue`). It works offline, without settings.
///
/// Exit code 0: everything that could be checked is right; 1: something is wrong; 2: the input could not be read; 3: nothing is
/// wrong, but a closed epoch or an ended cycle lacks its seed, and each is named.
#[derive(clap::Args)]
pub(super) struct Args {
    /// An export or a pre-queue, or `-` for standard input.
    #[arg(required_unless_present = "ledger", conflicts_with = "ledger")]
    export: Option<PathBuf>,
    /// Public keys that you trust: a JWK Set or a file with one, from `/v1/keys`. Default: the keys in the export.
    #[arg(long, value_name = "FILE|JWKS")]
    key: Option<String>,
    /// A head that you kept, from `/v1/jackpots/{id}/ledger/head`: the history must contain it. Repeatable.
    #[arg(long, value_name = "FILE")]
    head: Vec<PathBuf>,
    /// The commitment of a room that you kept before its opening: its pre-queue must have the same one.
    #[arg(long, value_name = "SHA256", conflicts_with = "ledger", value_parser = sha256)]
    commitment: Option<String>,
    /// The published SHA-256 of a pre-queue's list: from `GET /v1/rooms/{id}/status` after the opening, or from the
    /// event `opened` in the ledger.
    #[arg(long, value_name = "SHA256", conflicts_with = "ledger", value_parser = sha256)]
    sha256: Option<String>,
    /// Write the order of a pre-queue to this file instead of printing it: CSV if the name ends in `.csv`, otherwise
    /// NDJSON.
    #[arg(long, value_name = "FILE", conflicts_with = "ledger")]
    order: Option<PathBuf>,
    /// Check the configured ledger itself instead of an export.
    #[arg(long)]
    ledger: bool,
    /// Only this jackpot of the ledger.
    #[arg(long, value_name = "ID", requires = "ledger", conflicts_with = "export")]
    jackpot: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let right = trusted(args).and_then(|trusted| match &args.export {
        Some(path) => match verify_any(open(path)?, trusted)? {
            Verified::Ledger(report) => ledger_file(args, &report),
            Verified::PreQueue(list) => pre_queue(args, &list),
        },
        None => ledger(args, &trusted),
    });
    match right {
        Ok(found) => ExitCode::from(found.code()),
        Err(error) => {
            eprintln!("jackpot: {error}");
            ExitCode::from(2)
        }
    }
}

/// In its published form, however it was typed. A typing mistake would accuse the publisher.
fn sha256(text: &str) -> Result<String, String> {
    let text = text.trim().to_ascii_lowercase();
    match hex::decode(&text) {
        Ok(bytes) if bytes.len() == 32 => Ok(text),
        _ => Err("a SHA-256 has 64 hexadecimal digits".to_owned()),
    }
}

/// What was found, with its exit code. The worst comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Right,
    Lacking,
    Wrong,
}

impl Found {
    fn of(report: &Report) -> Self {
        match report {
            _ if !report.is_right() => Self::Wrong,
            _ if !report.lacking.is_empty() => Self::Lacking,
            _ => Self::Right,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Right => 0,
            Self::Wrong => 1,
            Self::Lacking => 3,
        }
    }
}

type Verdict = Result<Found, Box<dyn std::error::Error>>;

fn trusted(args: &Args) -> Result<Trusted, Box<dyn std::error::Error>> {
    let keys = args
        .key
        .as_deref()
        .map(|given| -> Result<Jwks, Box<dyn std::error::Error>> {
            if given.trim_start().starts_with('{') {
                return Ok(serde_json::from_str(given).map_err(|error| format!("--key: {error}"))?);
            }
            read(Path::new(given))
        });
    let heads = args.head.iter().map(|path| read::<Head>(path));
    Ok(Trusted {
        keys: keys.transpose()?,
        heads: heads.collect::<Result<_, _>>()?,
        commitment: args.commitment.clone(),
        sha256: args.sha256.clone(),
    })
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Box<dyn std::error::Error>> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    // Some editors put a byte order mark before a text.
    let text = text.trim_start_matches('\u{feff}');
    Ok(serde_json::from_str(text).map_err(|error| named(&error))?)
}

fn open(path: &Path) -> Result<Box<dyn std::io::BufRead>, String> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
}

fn ledger_file(args: &Args, report: &Report) -> Verdict {
    if args.commitment.is_some() || args.sha256.is_some() || args.order.is_some() {
        let what = "--commitment, --sha256 and --order are of the pre-queue of a room; this is the ledger of a jackpot";
        return Err(what.into());
    }
    show(report)
}

/// Prints the result, and the order if all of it is right.
fn pre_queue(args: &Args, list: &PreQueue) -> Verdict {
    if args.key.is_some() || !args.head.is_empty() {
        return Err("--key and --head are of the ledger of a jackpot; this is the pre-queue of a room".into());
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{list}")?;
    match &args.order {
        _ if !list.is_right() => {}
        Some(path) => {
            let named = |error: std::io::Error| format!("{}: {error}", path.display());
            let csv = path.extension().is_some_and(|extension| extension == "csv");
            let format = if csv { OrderFormat::Csv } else { OrderFormat::Ndjson };
            let mut file = BufWriter::new(File::create(path).map_err(named)?);
            list.write_order(&mut file, format)
                .and_then(|()| file.flush())
                .map_err(named)?;
        }
        None => {
            writeln!(out)?;
            list.write_order(&mut BufWriter::new(out), OrderFormat::Csv)?;
        }
    }
    Ok(if list.is_right() { Found::Right } else { Found::Wrong })
}

fn show(report: &Report) -> Verdict {
    write!(std::io::stdout().lock(), "{report}")?;
    Ok(Found::of(report))
}

fn ledger(args: &Args, trusted: &Trusted) -> Verdict {
    let only = args.jackpot.as_deref().map(Id::parse).transpose();
    let only = only.map_err(|error| format!("--jackpot {error}"))?;
    let settings = Settings::load(args.settings.config.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ledger = Ledger::open(&settings).await?;
        let mut worst = Found::Right;
        let mut last = String::new();
        loop {
            let ids = match &only {
                Some(id) if last.is_empty() => vec![id.to_string()],
                Some(_) => Vec::new(),
                None => page(&ledger, &last).await?,
            };
            let Some(end) = ids.last() else {
                ledger.sql.close().await;
                return Ok(worst);
            };
            last.clone_from(end);
            for id in &ids {
                let id = Id::parse(id).map_err(|error| format!("jackpot '{id}' of the ledger: {error}"))?;
                worst = worst.max(show(&one(&ledger, id, trusted).await?)?);
            }
        }
    })
}

async fn page(ledger: &Ledger, after: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT id FROM streams WHERE kind = 'jackpot' AND id > $1 ORDER BY id LIMIT $2")
        .bind(after)
        .bind(JACKPOTS_PAGE)
        .fetch_all(ledger.sql.reader())
        .await
}

/// This also checks the draws of open epochs: it runs where the secret is, and shows nothing of it.
async fn one(ledger: &Ledger, id: Id, trusted: &Trusted) -> Result<Report, Box<dyn std::error::Error>> {
    let mut trusted = trusted.clone();
    trusted.heads.retain(|head| head.jackpot_id == id);
    let mut lines = std::pin::pin!(ledger.begin(id).await?.lines(ledger.secrets.clone(), |_, _| true));
    let mut verifier = None;
    let mut trusted = Some(trusted);
    while let Some(line) = lines.next().await {
        let line = line?;
        let text = std::str::from_utf8(&line)?.trim_end();
        match (&mut verifier, trusted.take()) {
            (None, Some(trusted)) => verifier = Some(Verifier::begin(text, trusted)?),
            (Some(verifier), _) => verifier.line(text),
            (None, None) => {}
        }
    }
    Ok(verifier.map(Verifier::finish).unwrap_or_default())
}
