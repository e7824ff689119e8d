//! `jackpot reconcile`: Redis beside the ledger, as a table.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;

use super::SettingsArgs;
use super::session::Session;
use crate::ids::Id;
use crate::ledger::projector::lease::Leases;
use crate::ledger::queries::reconciliation::Reconciliation;
use crate::ledger::reconcile::now::Reconciled;
use crate::ledger::reconcile::report::Report;
use crate::ledger::reconcile::table;
use crate::ledger::sql::SqlError;
use crate::ledger::start::LedgerOpenError;
use crate::settings::Settings;
use crate::store::{DataDirError, OpenError};
use crate::tls;

/// Compare Redis with the ledger, tier by tier and term by term.
///
/// Beside a running service on this data directory it shows what that service found last. Exit code 1 when one does not
/// agree, 2 when it could not be compared.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only this jackpot.
    #[arg(long, value_name = "ID")]
    jackpot: Option<String>,
    /// Ask a running service there, such as <http://127.0.0.1:8080>, instead of Redis and SQL.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Key for --url, with the role read; without it the one in `<data_dir>/operator.key`.
    #[arg(long, value_name = "KEY", env = "JACKPOT_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
}

type Found = Result<bool, Box<dyn std::error::Error>>;

/// Longest wait for the answer of a service.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(args: &Args) -> ExitCode {
    let found = Settings::load(args.settings.config.as_deref())
        .map_err(Into::into)
        .and_then(|settings| {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(reconcile(args, settings))
        });
    match found {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("jackpot: {error}");
            ExitCode::from(2)
        }
    }
}

async fn reconcile(args: &Args, settings: Settings) -> Found {
    let only = args.jackpot.as_deref().map(Id::parse).transpose();
    let only = only.map_err(|error| format!("--jackpot {error}"))?;
    if let Some(url) = &args.url {
        return ask(url, &key(args, &settings)?, only.as_ref()).await;
    }
    let url = format!("http://{}", settings.http.listen);
    let key = key(args, &settings);
    match Session::open(settings).await {
        Ok(session) => {
            let found = compare(&session, only.as_ref()).await;
            session.close().await;
            found
        }
        // A service has them: it compares by itself, and tells.
        Err(error) if is_held(&*error) => match ask(&url, &key?, only.as_ref()).await {
            Err(answer) => {
                Err(format!("{error}; and {url} does not tell: {answer} (--url names another address)").into())
            }
            found => found,
        },
        Err(error) => Err(error),
    }
}

/// Whether another instance has the data directory or the SQLite file.
fn is_held(error: &(dyn std::error::Error + 'static)) -> bool {
    let ledger = matches!(error.downcast_ref(), Some(LedgerOpenError::Sql(SqlError::Held { .. })));
    let store = matches!(
        error.downcast_ref(),
        Some(OpenError::DataDir(DataDirError::Held { .. }))
    );
    ledger || store
}

async fn compare(session: &Session, only: Option<&Id>) -> Found {
    let leases = Leases::new(session.ledger.sql.clone(), String::new(), 0);
    session.catch_up().await;
    let projecting = session.project();
    let mut right = true;
    let mut found = false;
    for place in leases.places().await? {
        if place.n == 0 || only.is_some_and(|id| *id != place.id) {
            continue;
        }
        found = true;
        right &= match session.ledger.reconcile(&session.operate, &place.id).await {
            Ok(Reconciled::Report(event, report)) => show(place.id.as_str(), event, &report)?,
            Ok(Reconciled::Stopped(why)) => say(&format!("jackpot {}: STOPPED: {why}", place.id))?,
            Ok(Reconciled::Behind) => say(&format!("jackpot {}: the ledger has not caught up in time", place.id))?,
            Err(error) => say(&format!("jackpot {}: {error}", place.id))?,
        };
    }
    projecting.end().await?;
    nothing(found, only)?;
    Ok(right)
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    detail: String,
    items: Option<Vec<Reconciliation>>,
}

/// What a running service found last.
async fn ask(url: &str, key: &str, only: Option<&Id>) -> Found {
    tls::install_provider();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls::client_config()?)
        .timeout(ANSWER_LIMIT)
        .no_proxy()
        .build()?;
    let address = format!("{}/v1/reconciliation", url.trim_end_matches('/'));
    let answer: Answer = client.get(address).bearer_auth(key).send().await?.json().await?;
    let Some(items) = answer.items else {
        return Err(answer.detail.into());
    };
    let (mut right, mut found) = (true, false);
    for item in items {
        if only.is_some_and(|id| *id.as_str() != item.jackpot_id) {
            continue;
        }
        found = true;
        right &= match (item.event, item.stopped) {
            (_, Some(why)) => say(&format!("jackpot {}: STOPPED: {why}", item.jackpot_id))?,
            (None, None) => !say(&format!("jackpot {}: not compared yet", item.jackpot_id))?,
            (Some(event), None) => {
                let report = Report {
                    clean: item.clean == Some(true),
                    tiers: item.tiers,
                    state: item.state,
                };
                show(&item.jackpot_id, event.unsigned_abs(), &report)?
            }
        };
    }
    nothing(found, only)?;
    Ok(right)
}

fn nothing(found: bool, only: Option<&Id>) -> Result<(), String> {
    match only {
        Some(id) if !found => Err(format!("the ledger has no event of jackpot '{id}'")),
        _ => Ok(()),
    }
}

fn key(args: &Args, settings: &Settings) -> Result<String, std::io::Error> {
    match &args.key {
        Some(key) => Ok(key.clone()),
        None => Ok(std::fs::read_to_string(settings.data_dir.join("operator.key"))?
            .trim()
            .to_owned()),
    }
}

/// Whether it is clean.
fn show(jackpot: &str, event: u64, report: &Report) -> std::io::Result<bool> {
    write!(std::io::stdout().lock(), "{}", table::render(jackpot, event, report))?;
    Ok(report.clean)
}

/// Something that is not clean.
fn say(text: &str) -> std::io::Result<bool> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(false)
}
