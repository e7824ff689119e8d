//! `jackpot restore`: rebuilds jackpots in Redis from the ledger.

use std::io::Write as _;
use std::process::ExitCode;

use super::session::Session;
use super::{SettingsArgs, failed};
use crate::ids::Id;
use crate::jackpot::operate::Operator;
use crate::ledger::projector::lease::Leases;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::settings::Settings;

/// Rebuild jackpots in Redis from the ledger: those that Redis lost or has less of; or one, when it takes no entries.
///
/// With the embedded Redis or SQLite the service must be stopped; it restores by itself when it starts
/// (`ledger.auto_restore`). Exit code 1 when one could not be rebuilt.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only this jackpot, also when Redis has all its events: it must be paused, suspended or closed then.
    #[arg(long, value_name = "ID")]
    jackpot: Option<String>,
    /// Give up events of that jackpot that Redis has and the ledger lacks. They are lost for good.
    #[arg(long, requires = "jackpot")]
    discard: bool,
    /// Why, for the audit trail.
    #[arg(long, value_name = "TEXT", default_value = "jackpot restore")]
    reason: String,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let done = Settings::load(args.settings.config.as_deref())
        .map_err(Into::into)
        .and_then(|settings| {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(restore(args, settings))
        });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&*error),
    }
}

async fn restore(args: &Args, settings: Settings) -> Result<bool, Box<dyn std::error::Error>> {
    let only = args.jackpot.as_deref().map(Id::parse).transpose();
    let only = only.map_err(|error| format!("--jackpot {error}"))?;
    let lease_ms = settings.ledger.lease_ms;
    let session = Session::open(settings).await?;
    // What Redis still has and the ledger not yet is not to be lost by this.
    session.catch_up().await;
    let leases = Leases::new(session.ledger.sql.clone(), session.instance.clone(), lease_ms);
    let result = all(args, &session, &leases, only.as_ref()).await;
    if let Err(error) = leases.release().await {
        eprintln!("jackpot: the leases were not given back: {error}; they end by themselves");
    }
    session.close().await;
    result
}

async fn all(
    args: &Args,
    session: &Session,
    leases: &Leases,
    only: Option<&Id>,
) -> Result<bool, Box<dyn std::error::Error>> {
    let restorer = Restorer::new(session.ledger.sql.clone(), session.store.clone());
    let replace = match (only, args.discard) {
        (None, _) => Replace::Lost,
        (Some(_), false) => Replace::Stopped,
        (Some(_), true) => Replace::Ahead,
    };
    let by = Operator {
        who: "command line".to_owned(),
        request_id: String::new(),
    };
    let (mut right, mut found) = (true, false);
    for place in leases.places().await? {
        if place.n == 0 || only.is_some_and(|id| *id != place.id) {
            continue;
        }
        found = true;
        // Whoever reads this stream now can commit nothing more: the token is another one.
        if leases.take(&place.id, place.token).await?.is_none() {
            say(&place.id, "another instance took it over at the same time; try again")?;
            right = false;
            continue;
        }
        let restore = restorer.restore(&place.id, replace, &by, &args.reason);
        let done = leases.during(restore).await;
        // At once, not with the last one: a service reads on meanwhile.
        leases.release().await?;
        match done {
            Ok(Restored { mark, records }) => {
                session.operate.add_to_index(std::slice::from_ref(&place.id)).await?;
                say(&place.id, &format!("restored, {mark}, {records} entries remembered"))?;
            }
            Err(RestoreError::NotLost) if only.is_none() => say(&place.id, "is all there")?,
            Err(error) => {
                say(&place.id, &format!("NOT restored: {error}"))?;
                right = false;
            }
        }
    }
    match only {
        Some(id) if !found => Err(format!("the ledger has no event of jackpot '{id}'").into()),
        _ => Ok(right),
    }
}

fn say(jackpot: &Id, text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{jackpot}: {text}")
}
