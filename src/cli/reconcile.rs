//! `jackpot reconcile`: compares Redis with the ledger, as a table.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;

use super::only::Only;
use super::session::{Session, is_held};
use super::{SettingsArgs, until_signalled};
use crate::keys::read_operator_key;
use crate::ledger::projector::lease::Leases;
use crate::ledger::queries::reconciliation::{CouponReconciliation, Reconciliation, RoomReconciliation};
use crate::ledger::reconcile::now::Reconciled;
use crate::ledger::reconcile::report::Report;
use crate::ledger::reconcile::table;
use crate::secret_file::SecretFileError;
use crate::settings::Settings;
use crate::subject::kinds::{COUPONS, JACKPOTS, ROOMS};
use crate::tls;

/// Compare Redis with the ledger: jackpots tier by tier and term by term, coupons and rooms number by number.
///
/// Beside a running service on this data directory it shows the service's last comparison. Exit code 1 if one does not
/// agree, 2 if it could not be compared.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only this jackpot.
    #[arg(long, value_name = "ID", group = "one")]
    jackpot: Option<String>,
    /// Only this coupon.
    #[arg(long, value_name = "ID", group = "one")]
    coupon: Option<String>,
    /// Only this room.
    #[arg(long, value_name = "ID", group = "one")]
    room: Option<String>,
    /// Ask a running service there, such as <http://127.0.0.1:8080>, instead of Redis and SQL.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Key for --url, with the role read; default: the key in `<data_dir>/operator.key`.
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
    let wanted = Only::of(args.jackpot.as_deref(), args.coupon.as_deref(), args.room.as_deref())?;
    if let Some(url) = &args.url {
        return ask(url, &key(args, &settings)?, &wanted).await;
    }
    let url = format!("http://{}", settings.http.listen);
    let key = key(args, &settings);
    match Session::open(settings).await {
        Ok(session) => {
            let found = compare(&session, &wanted).await;
            session.close().await;
            found
        }
        // A service has them: it compares by itself, and reports.
        Err(error) if is_held(&*error) => match ask(&url, &key?, &wanted).await {
            Err(answer) => {
                Err(format!("{error}; and {url} does not tell: {answer} (--url names another address)").into())
            }
            found => found,
        },
        Err(error) => Err(error),
    }
}

async fn compare(session: &Session, wanted: &Only) -> Found {
    session.catch_up().await;
    let projecting = session.project();
    let (mut right, mut found) = (true, false);
    for kind in session.kinds.iter() {
        let what = kind.tables().what;
        let leases = Leases::of(kind.tables(), session.ledger.sql.clone(), String::new(), 0);
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

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    detail: String,
    items: Option<Vec<Reconciliation>>,
    /// Empty for a service without coupons.
    #[serde(default)]
    coupons: Vec<CouponReconciliation>,
    /// Empty for a service without rooms.
    #[serde(default)]
    rooms: Vec<RoomReconciliation>,
}

/// The last comparison of a running service.
async fn ask(url: &str, key: &str, wanted: &Only) -> Found {
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
    let jackpots = items.into_iter().map(|item| {
        let report = (item.clean, item.tiers, item.state);
        (JACKPOTS.what, item.jackpot_id, item.event, item.stopped, report)
    });
    let coupons = answer.coupons.into_iter().map(|item| {
        let report = (item.clean, Vec::new(), item.state);
        (COUPONS.what, item.coupon_id, item.event, item.stopped, report)
    });
    let rooms = answer.rooms.into_iter().map(|item| {
        let report = (item.clean, Vec::new(), item.state);
        (ROOMS.what, item.room_id, item.event, item.stopped, report)
    });
    let (mut right, mut found) = (true, false);
    for (what, id, event, stopped, (clean, tiers, state)) in jackpots.chain(coupons).chain(rooms) {
        if !wanted.has(what, &id) {
            continue;
        }
        found = true;
        let name = format!("{what} {id}");
        right &= match (event, stopped) {
            (_, Some(why)) => say(&format!("{name}: STOPPED: {why}"))?,
            (None, None) => !say(&format!("{name}: not compared yet"))?,
            (Some(event), None) => {
                let clean = clean == Some(true);
                show(&name, event.unsigned_abs(), &Report { clean, tiers, state })?
            }
        };
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

/// Whether it is clean.
fn show(name: &str, event: u64, report: &Report) -> std::io::Result<bool> {
    write!(std::io::stdout().lock(), "{}", table::render(name, event, report))?;
    Ok(report.clean)
}

/// A subject that is not clean.
fn say(text: &str) -> std::io::Result<bool> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(false)
}
