//! `jackpot restore`: rebuilds jackpots and coupons in Redis from the ledger.

use std::io::Write as _;
use std::process::ExitCode;

use super::session::Session;
use super::{SettingsArgs, failed};
use crate::ids::Id;
use crate::jackpot::operate::Operator;
use crate::ledger::projector::lease::Leases;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::ledger::streams::{COUPONS, JACKPOTS, Tables};
use crate::settings::Settings;

/// Rebuild jackpots and coupons in Redis from the ledger: those that Redis lost or has less of; or one, when it is not
/// open.
///
/// With the embedded Redis or SQLite the service must be stopped; it restores by itself when it starts
/// (`ledger.auto_restore`). Exit code 1 when one could not be rebuilt.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only this jackpot, also when Redis has all its events: it must be paused, suspended or closed then.
    #[arg(long, value_name = "ID", group = "one")]
    jackpot: Option<String>,
    /// Only this coupon, also when Redis has all its events: it must be suspended or over then.
    #[arg(long, value_name = "ID", group = "one")]
    coupon: Option<String>,
    /// Give up events of that one that Redis has and the ledger lacks. They are lost for good.
    #[arg(long, requires = "one")]
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
    let jackpot = args.jackpot.as_deref().map(Id::parse).transpose();
    let jackpot = jackpot.map_err(|error| format!("--jackpot {error}"))?;
    let coupon = args.coupon.as_deref().map(Id::parse).transpose();
    let coupon = coupon.map_err(|error| format!("--coupon {error}"))?;
    let session = Session::open(settings).await?;
    // What Redis still has and the ledger not yet is not to be lost by this.
    session.catch_up().await;
    let mut result = Ok(true);
    for (kind, only, other) in [(JACKPOTS, &jackpot, &coupon), (COUPONS, &coupon, &jackpot)] {
        if other.is_none() {
            let right = Restoring::of(kind, args, &session).all(only.as_ref()).await;
            result = result.and_then(|before| Ok(before & right?));
        }
    }
    session.close().await;
    result
}

/// All of a kind.
struct Restoring<'a> {
    kind: Tables,
    args: &'a Args,
    session: &'a Session,
    leases: Leases,
    restorer: Restorer,
}

impl<'a> Restoring<'a> {
    fn of(kind: Tables, args: &'a Args, session: &'a Session) -> Self {
        let sql = session.ledger.sql.clone();
        Self {
            kind,
            args,
            session,
            leases: Leases::of(kind, sql.clone(), session.instance.clone(), session.lease_ms()),
            restorer: Restorer::new(sql, session.store.clone()),
        }
    }

    async fn all(&self, only: Option<&Id>) -> Result<bool, Box<dyn std::error::Error>> {
        let done = self.each(only).await;
        if let Err(error) = self.leases.release().await {
            eprintln!("jackpot: the leases were not given back: {error}; they end by themselves");
        }
        done
    }

    async fn each(&self, only: Option<&Id>) -> Result<bool, Box<dyn std::error::Error>> {
        let (mut right, mut found) = (true, false);
        for place in self.leases.places().await? {
            if place.n == 0 || only.is_some_and(|id| *id != place.id) {
                continue;
            }
            found = true;
            // Whoever reads this stream now can commit nothing more: the token is another one.
            if self.leases.take(&place.id, place.token).await?.is_none() {
                let text = "another instance took it over at the same time; try again";
                self.say(&place.id, text)?;
                right = false;
                continue;
            }
            let done = self.leases.during(self.restore(&place.id, only.is_some())).await;
            // At once, not with the last one: a service reads on meanwhile.
            self.leases.release().await?;
            match done {
                Ok(Restored { mark, records }) => {
                    self.add_to_index(&place.id).await?;
                    let what = if self.kind.what == COUPONS.what {
                        "requests"
                    } else {
                        "entries"
                    };
                    let text = format!("restored, {mark}, {records} {what} remembered");
                    self.say(&place.id, &text)?;
                }
                Err(RestoreError::NotLost) if only.is_none() => self.say(&place.id, "is all there")?,
                Err(error) => {
                    self.say(&place.id, &format!("NOT restored: {error}"))?;
                    right = false;
                }
            }
        }
        match only {
            Some(id) if !found => Err(format!("the ledger has no event of {} '{id}'", self.kind.what).into()),
            _ => Ok(right),
        }
    }

    async fn restore(&self, id: &Id, alone: bool) -> Result<Restored, RestoreError> {
        let replace = match (alone, self.args.discard) {
            (false, _) => Replace::Lost,
            (true, false) => Replace::Stopped,
            (true, true) => Replace::Ahead,
        };
        let by = Operator {
            who: "command line".to_owned(),
            request_id: String::new(),
        };
        if self.kind.what == COUPONS.what {
            self.restorer.restore_coupon(id, replace, &by, &self.args.reason).await
        } else {
            self.restorer.restore(id, replace, &by, &self.args.reason).await
        }
    }

    async fn add_to_index(&self, id: &Id) -> Result<(), Box<dyn std::error::Error>> {
        let id = std::slice::from_ref(id);
        if self.kind.what == COUPONS.what {
            Ok(self.session.coupons.add_to_index(id).await?)
        } else {
            Ok(self.session.operate.add_to_index(id).await?)
        }
    }

    /// A jackpot by its id alone, as ever.
    fn say(&self, id: &Id, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stdout().lock(), "{}: {text}", self.kind.subject(id))
    }
}
