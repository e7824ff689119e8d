//! `jackpot reconcile`: compares Redis with the ledger, as a table.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::Arg;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use serde_json::Value;

use super::health;
use super::only::{Asks, Only, Options, flag};
use super::session::{Session, is_held};
use super::{SettingsArgs, until_signalled};
use crate::keys::read_operator_key;
use crate::ledger::projector::lease::Leases;
use crate::ledger::queries::reconciliation::Last;
use crate::ledger::reconcile::now::Reconciled;
use crate::ledger::reconcile::report::Report;
use crate::ledger::reconcile::table;
use crate::secret_file::SecretFileError;
use crate::settings::{Http, Settings};
use crate::subject::kinds::{self, KindName};
use crate::tls;

/// Compare Redis with the ledger: jackpots tier by tier and term by term, coupons and rooms number by number.
///
/// Beside a running service on this data directory it shows the service's last comparison. Exit code 1 if one does not
/// agree, 2 if it could not be compared.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    only: Options<Compare>,
    /// Ask a running service there, such as <http://127.0.0.1:8080>, instead of Redis and SQL.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Key for --url, with the role read; default: the key in `<data_dir>/operator.key`.
    #[arg(long, value_name = "KEY", env = "JACKPOT_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// All subjects, or one.
struct Compare;

impl Asks for Compare {
    const GROUP: &'static str = "one";
    const REQUIRED: bool = false;

    fn option(kind: KindName) -> Arg {
        flag(kind).help(format!("Only this {kind}"))
    }
}

type Found = Result<bool, Box<dyn std::error::Error>>;

/// Longest wait for the answer of a service.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(args: &Args) -> ExitCode {
    let found = Settings::load(args.settings.config.as_deref())
        .map_err(Into::into)
        .and_then(|settings| until_signalled(reconcile(args, settings)));
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
    let wanted = Only::of(&args.only)?;
    if let Some(url) = &args.url {
        return ask(url, tls::client_config()?, &key(args, &settings)?, &wanted).await;
    }
    let (http, key) = (settings.http.clone(), key(args, &settings));
    match Session::open(settings).await {
        Ok(session) => {
            let found = compare(&session, &wanted).await;
            session.close().await;
            found
        }
        // A running service holds them. It compares on its own, and reports.
        Err(error) if is_held(&*error) => {
            let url = health::base(&http);
            eprintln!("jackpot: {error}. This shows the last comparison of {url}");
            match ask(&url, of_this_machine(&http)?, &key?, &wanted).await {
                Err(answer) => {
                    Err(format!("{url} does not know either: {answer} (--url names another address)").into())
                }
                found => found,
            }
        }
        Err(error) => Err(error),
    }
}

/// For the service with these settings. Its certificate mostly names another host than the address of this machine.
fn of_this_machine(http: &Http) -> Result<ClientConfig, Box<dyn std::error::Error>> {
    if http.tls_cert_file.is_empty() {
        return Ok(tls::client_config()?);
    }
    let certificate = CertificateDer::from_pem_file(&http.tls_cert_file)
        .map_err(|error| format!("setting http.tls_cert_file: {}: {error}", http.tls_cert_file))?;
    Ok(tls::client_config_for(certificate)?)
}

async fn compare(session: &Session, wanted: &Only) -> Found {
    session.catch_up().await;
    let projecting = session.project();
    let (mut right, mut found) = (true, false);
    for kind in session.kinds.iter() {
        let what = kind.name();
        let leases = Leases::of(kind.name(), session.ledger.sql.clone(), String::new(), 0);
        for place in leases.places().await? {
            if place.n == 0 || !wanted.has(what, place.id.as_str()) {
                continue;
            }
            found = true;
            let name = format!("{what} {}", place.id);
            let reconciled = kind.reconcile(&session.ledger, &place.id).await;
            right &= match reconciled {
                Ok(Reconciled::Report(event, report)) => show(&name, event, &report)?,
                Ok(Reconciled::Stopped(why)) => say(&format!("{name}: STOPPED: {why}"))?,
                Ok(Reconciled::Behind) => say(&format!("{name}: the ledger has not caught up in time"))?,
                Err(error) => say(&format!("{name}: {error}"))?,
            };
        }
    }
    projecting.end().await?;
    wanted.found(found)?;
    Ok(right)
}

/// The last comparison of a running service.
async fn ask(url: &str, trust: ClientConfig, key: &str, wanted: &Only) -> Found {
    tls::install_provider();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(trust)
        .timeout(ANSWER_LIMIT)
        .no_proxy()
        .build()?;
    let address = format!("{}/v1/reconciliation", url.trim_end_matches('/'));
    let answer: Value = client.get(address).bearer_auth(key).send().await?.json().await?;
    let lists: Vec<_> = kinds::all()
        .filter_map(|kind| Some((kind, answer.get(kind.compared_as)?.as_array()?)))
        .collect();
    if lists.is_empty() {
        return Err(answer["detail"].as_str().unwrap_or_default().into());
    }
    let (mut right, mut found) = (true, false);
    for (kind, rows) in lists {
        for row in rows {
            let id = row[kind.id_field()].as_str().unwrap_or_default();
            if !wanted.has(kind, id) {
                continue;
            }
            found = true;
            right &= show_last(&format!("{kind} {id}"), Last::deserialize(row)?)?;
        }
    }
    wanted.found(found)?;
    Ok(right)
}

fn key(args: &Args, settings: &Settings) -> Result<String, SecretFileError> {
    match &args.key {
        Some(key) => Ok(key.clone()),
        None => Ok(read_operator_key(&settings.data_dir.join("operator.key"))?
            .trim()
            .to_owned()),
    }
}

/// Shows the service's last comparison. Returns whether it was clean.
fn show_last(name: &str, last: Last) -> std::io::Result<bool> {
    match (last.event, last.stopped) {
        (_, Some(why)) => say(&format!("{name}: STOPPED: {why}")),
        // No mismatch is known yet.
        (None, None) => say(&format!("{name}: not compared yet")).map(|_| true),
        (Some(event), None) => {
            let report = Report {
                clean: last.clean == Some(true),
                tiers: last.tiers.unwrap_or_default(),
                state: last.state,
            };
            show(name, event.unsigned_abs(), &report)
        }
    }
}

/// Shows a report. Returns whether it is clean.
fn show(name: &str, event: u64, report: &Report) -> std::io::Result<bool> {
    write!(std::io::stdout().lock(), "{}", table::render(name, event, report))?;
    Ok(report.clean)
}

/// A subject that is not clean.
fn say(text: &str) -> std::io::Result<bool> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(false)
}
