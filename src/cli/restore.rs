//! `jackpot restore`: rebuilds jackpots, coupons and rooms in Redis from the ledger.

use std::io::Write as _;
use std::process::ExitCode;

use super::only::Only;
use super::session::Session;
use super::{SettingsArgs, failed, until_signalled};
use crate::ids::Id;
use crate::jackpot::operate::Operator;
use crate::ledger::pair::Adoption;
use crate::ledger::projector::lease::Leases;
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::ledger::streams::Streams;
use crate::settings::Settings;

/// Rebuild jackpots, coupons and rooms in Redis from the ledger: those that Redis lost or has less of; or one, when it is
/// not open.
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
    /// Only this room, also when Redis has all its events: it must be suspended then. Its tickets are not in the ledger:
    /// they are gone, and nobody is admitted before every pass that may be out has expired.
    #[arg(long, value_name = "ID", group = "one")]
    room: Option<String>,
    /// Make this Redis the ledger's store, where another one was: when that one is lost for good, or when this data directory
    /// is new. Instances that still play on the other one answer 503 and commit nothing more. Then rebuild all.
    #[arg(long, conflicts_with = "one")]
    adopt: bool,
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
        .and_then(|settings| until_signalled(restore(args, settings)));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&*error),
    }
}

async fn restore(args: &Args, settings: Settings) -> Result<bool, Box<dyn std::error::Error>> {
    let only = Only::of(args.jackpot.as_deref(), args.coupon.as_deref(), args.room.as_deref())?;
    if args.adopt {
        return adopt(args, settings).await;
    }
    let session = Session::open(settings).await?;
    let result = all(args, &only, &session).await;
    session.close().await;
    result
}

/// Ties the ledger to this Redis and rebuilds what it lacks. A start is refused from the begin of the adopt to its end:
/// run it again when it died in between.
async fn adopt(args: &Args, settings: Settings) -> Result<bool, Box<dyn std::error::Error>> {
    let (session, adoption) = Session::open_adopting(settings).await?;
    let result = async {
        let only = Only::of(None, None, None)?;
        match &adoption {
            Some(Adoption { to, .. }) => writeln!(std::io::stdout().lock(), "the ledger belongs to store {to} now")?,
            None => writeln!(std::io::stdout().lock(), "this Redis is the ledger's store already")?,
        }
        let right = all(args, &only, &session).await?;
        if let Some(adoption) = adoption {
            // Also with one that was not rebuilt: the ledger refuses it until it is, and the others can be played.
            session.ledger.adopted(&session.store, adoption).await?;
        }
        Ok(right)
    };
    let result = result.await;
    session.close().await;
    result
}

async fn all(args: &Args, only: &Only, session: &Session) -> Result<bool, Box<dyn std::error::Error>> {
    // What Redis still has and the ledger not yet is not to be lost by this.
    session.catch_up().await;
    let mut result = Ok(true);
    for streams in Streams::ALL {
        if only.takes(streams) {
            let right = Restoring::of(streams, args, session).all(only).await;
            result = result.and_then(|before| Ok(before & right?));
        }
    }
    result
}

/// All of a kind.
struct Restoring<'a> {
    streams: Streams,
    args: &'a Args,
    session: &'a Session,
    leases: Leases,
    restorer: Restorer,
}

impl<'a> Restoring<'a> {
    fn of(streams: Streams, args: &'a Args, session: &'a Session) -> Self {
        let sql = session.ledger.sql.clone();
        Self {
            streams,
            args,
            session,
            leases: Leases::of(
                streams.tables(),
                sql.clone(),
                session.instance.clone(),
                session.lease_ms(),
            ),
            restorer: Restorer::new(sql, session.store.clone()),
        }
    }

    async fn all(&self, only: &Only) -> Result<bool, Box<dyn std::error::Error>> {
        let done = self.each(only).await;
        if let Err(error) = self.leases.release().await {
            eprintln!("jackpot: the leases were not given back: {error}; they end by themselves");
        }
        done
    }

    async fn each(&self, only: &Only) -> Result<bool, Box<dyn std::error::Error>> {
        let (mut right, mut found) = (true, false);
        for place in self.leases.places().await? {
            if place.n == 0 || !only.has(self.streams, place.id.as_str()) {
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
            let done = self.leases.during(self.restore(&place.id, only.id().is_some())).await;
            // At once, not with the last one: a service reads on meanwhile.
            self.leases.release().await?;
            match done {
                Ok(Restored { mark, records }) => {
                    self.add_to_index(&place.id).await?;
                    self.say(&place.id, &format!("restored, {mark}{}", self.remembered(records)))?;
                }
                Err(RestoreError::NotLost) if only.id().is_none() => self.say(&place.id, "is all there")?,
                Err(error) => {
                    self.say(&place.id, &format!("NOT restored: {error}"))?;
                    right = false;
                }
            }
        }
        only.found(found)?;
        Ok(right)
    }

    /// What came back beside the state. Of a room nothing did: its tickets are not in the ledger.
    fn remembered(&self, records: u64) -> String {
        match self.streams {
            Streams::Jackpots => format!(", {records} entries remembered"),
            Streams::Coupons => format!(", {records} requests remembered"),
            Streams::Rooms => String::new(),
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
        let (restorer, reason) = (&self.restorer, &self.args.reason);
        match self.streams {
            Streams::Jackpots => {
                let secrets = &self.session.operate.views.secrets;
                restorer.restore(secrets, id, replace, &by, reason).await
            }
            Streams::Coupons => restorer.restore_coupon(id, replace, &by, reason).await,
            Streams::Rooms => {
                let secret = self.session.operate.views.secrets.current();
                restorer.restore_room(secret, id, replace, (0, 0), &by, reason).await
            }
        }
    }

    async fn add_to_index(&self, id: &Id) -> Result<(), Box<dyn std::error::Error>> {
        let id = std::slice::from_ref(id);
        match self.streams {
            Streams::Jackpots => self.session.operate.views.registry.add_to_index(id).await?,
            Streams::Coupons => self.session.coupons.add_to_index(id).await?,
            Streams::Rooms => self.session.rooms.add_to_index(id).await?,
        }
        Ok(())
    }

    /// A jackpot by its id alone, as ever.
    fn say(&self, id: &Id, text: &str) -> std::io::Result<()> {
        writeln!(
            std::io::stdout().lock(),
            "{}: {text}",
            self.streams.tables().subject(id)
        )
    }
}
