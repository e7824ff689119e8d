//! `jackpot restore`: rebuilds subjects in Redis from the ledger.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Arg;
use jackpot_core::ids::Id;
use jackpot_core::text::Reason;
use thiserror::Error;

use super::only::{Asks, Only, Options, flag};
use super::restore_from::restore_from;
use super::session::Session;
use super::{SettingsArgs, failed, until_signalled};
use crate::backup::restore::refuse_unfinished;
use crate::ledger::kinds::AnyKind;
use crate::ledger::pair::Adoption;
use crate::ledger::projector::lease::{Leases, Place};
use crate::ledger::restore::{Replace, RestoreError, Restored, Restorer};
use crate::operator::Operator;
use crate::settings::Settings;
use crate::subject::kinds::KindName;

/// Rebuild jackpots, coupons and rooms in Redis from the ledger: all that Redis has lost or holds in an older state; or
/// one, if it is not open.
///
/// With the embedded Redis or SQLite the service must be stopped. It restores by itself when it starts
/// (`ledger.auto_restore`). Exit code 1 if one could not be rebuilt.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    only: Options<Rebuild>,
    /// Make this Redis the ledger's store in place of another one: when that one is lost for good, or this data
    /// directory is new. Instances on the other store then answer 503 and commit nothing more. Then rebuild all.
    #[arg(long, conflicts_with = "one")]
    adopt: bool,
    /// Give up events of that subject that Redis has and the ledger lacks. They are lost for good, and their payouts
    /// can be paid again: see `jackpot ledger skip` first. The command prints what it forgets and asks for the id. It
    /// leaves a jackpot paused, a coupon or room suspended.
    #[arg(long, requires = "one")]
    discard: bool,
    /// The id of the subject to discard, without a terminal to type it on.
    #[arg(long, value_name = "ID", requires = "discard")]
    confirm: Option<String>,
    /// Start with this backup of `jackpot backup`: an empty data directory, an empty database and an empty Redis. A
    /// repeat finishes an interrupted one.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["one", "adopt", "discard"])]
    from: Option<PathBuf>,
    /// The reason, for the audit trail.
    #[arg(long, value_name = "TEXT", default_value = "jackpot restore")]
    reason: Reason,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// All subjects, or one.
struct Rebuild;

impl Asks for Rebuild {
    const GROUP: &'static str = "one";
    const REQUIRED: bool = false;

    fn option(kind: KindName) -> Arg {
        let when = kind.restore_help;
        flag(kind).help(format!("Only this {kind}, even if Redis has all its events. {when}"))
    }
}

pub(super) fn run(args: &Args) -> ExitCode {
    let done = Settings::load(args.settings.config.as_deref())
        .map_err(Into::into)
        .and_then(|settings| until_signalled(restore(args, settings)));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.is::<NotConfirmed>() => {
            failed(&*error);
            ExitCode::from(2)
        }
        Err(error) => failed(&*error),
    }
}

/// Nothing was discarded.
#[derive(Debug, Error)]
enum NotConfirmed {
    /// There is no terminal to ask on.
    #[error("--discard asks for the id: there is no terminal to type it on, so give --confirm {0}")]
    NoTerminal(String),
    /// Another id was typed.
    #[error("that is not '{0}': nothing was discarded")]
    Other(String),
}

/// Refuses an unconfirmed discard before anything is opened.
fn may_confirm(args: &Args, only: &Only) -> Result<(), NotConfirmed> {
    let Some(id) = only.id().filter(|_| args.discard) else {
        return Ok(());
    };
    match &args.confirm {
        Some(confirm) if confirm == id.as_str() => Ok(()),
        Some(_) => Err(NotConfirmed::Other(id.to_string())),
        None if std::io::stdin().is_terminal() => Ok(()),
        None => Err(NotConfirmed::NoTerminal(id.to_string())),
    }
}

async fn restore(args: &Args, settings: Settings) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(backup) = &args.from {
        // Every file made here is a secret.
        rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
        return Box::pin(restore_from(args, backup, settings)).await;
    }
    refuse_unfinished(&settings.data_dir)?;
    let only = Only::of(&args.only)?;
    may_confirm(args, &only)?;
    if args.adopt {
        return Box::pin(adopt(args, settings)).await;
    }
    let session = Session::open(settings).await?;
    let result = Box::pin(all(args, &only, &session)).await;
    session.close().await;
    result
}

/// Ties the ledger to this Redis and rebuilds what it lacks. A start is refused from the beginning of the adopt to its
/// end. If the adopt died in between, run it again.
pub(super) async fn adopt(args: &Args, settings: Settings) -> Result<bool, Box<dyn std::error::Error>> {
    let (session, adoption) = Session::open_adopting(settings).await?;
    let result = async {
        match &adoption {
            Some(Adoption { to, .. }) => writeln!(std::io::stdout().lock(), "the ledger belongs to store {to} now")?,
            None => writeln!(std::io::stdout().lock(), "this Redis is the ledger's store already")?,
        }
        let right = Box::pin(all(args, &Only::ALL, &session)).await?;
        // The ledger has the events of the restore before play begins.
        session.catch_up().await;
        if let Some(adoption) = adoption {
            // Even if one was not rebuilt: the ledger refuses it until it is, and the others can be played.
            session.ledger.adopted(&session.store, adoption).await?;
        }
        Ok(right)
    };
    let result = result.await;
    session.close().await;
    result
}

async fn all(args: &Args, only: &Only, session: &Session) -> Result<bool, Box<dyn std::error::Error>> {
    // Events that only Redis has must not be lost.
    session.catch_up().await;
    let mut result = Ok(true);
    for kind in session.kinds.iter() {
        if only.takes(kind.name()) {
            let right = Box::pin(Restoring::of(kind, args, session).all(only)).await;
            result = result.and_then(|before| Ok(before & right?));
        }
    }
    result
}

/// All subjects of a kind.
struct Restoring<'a> {
    kind: &'a dyn AnyKind,
    args: &'a Args,
    session: &'a Session,
    leases: Leases,
    restorer: Restorer,
}

impl<'a> Restoring<'a> {
    fn of(kind: &'a Arc<dyn AnyKind>, args: &'a Args, session: &'a Session) -> Self {
        let sql = session.ledger.sql.clone();
        Self {
            kind: &**kind,
            args,
            session,
            leases: Leases::of(kind.name(), sql.clone(), session.instance.clone(), session.lease_ms()),
            restorer: Restorer::new(sql, session.store.clone()),
        }
    }

    async fn all(&self, only: &Only) -> Result<bool, Box<dyn std::error::Error>> {
        let done = Box::pin(self.each(only)).await;
        if let Err(error) = self.leases.release().await {
            eprintln!("jackpot: the leases were not released: {error}; they expire");
        }
        done
    }

    async fn each(&self, only: &Only) -> Result<bool, Box<dyn std::error::Error>> {
        let (mut right, mut found) = (true, false);
        for place in self.leases.places().await? {
            if place.n == 0 || !only.has(self.kind.name(), place.id.as_str()) {
                continue;
            }
            // The current reader of this stream can commit nothing more, because the token changes.
            if self.leases.take(&place.id).await?.is_none() {
                continue;
            }
            found = true;
            if self.args.discard
                && let Err(error) = self.leases.during(self.confirmed(&place)).await
            {
                self.leases.release().await?;
                return Err(error);
            }
            let restore = Box::pin(self.restore(&place.id, only.id().is_some()));
            let done = self.leases.during(restore).await;
            // Released at once, not after the last subject, because a service continues to read meanwhile.
            self.leases.release().await?;
            match done {
                Ok(Restored { mark, records }) => {
                    self.kind.add_to_index(&place.id).await?;
                    self.say(
                        &place.id,
                        &format!("restored, {mark}{}{}", self.remembered(records), self.left()),
                    )?;
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

    /// Prints what is forgotten, and asks for the id.
    async fn confirmed(&self, place: &Place) -> Result<(), Box<dyn std::error::Error>> {
        let id = &place.id;
        self.say(id, "discarding forgets for good:")?;
        let lines = match self.kind.forgotten(&self.session.store, id, place.n).await {
            Ok(lines) => lines,
            Err(error) => vec![format!("Redis' events after {}, which can't be read: {error}", place.n)],
        };
        let mut out = std::io::stdout().lock();
        lines.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        if self.args.confirm.is_some() {
            return Ok(());
        }
        eprint!("Type the id '{id}' to go on: ");
        let mut typed = String::new();
        std::io::stdin().lock().read_line(&mut typed)?;
        if typed.trim() == id.as_str() {
            Ok(())
        } else {
            Err(NotConfirmed::Other(id.to_string()).into())
        }
    }

    /// What was rebuilt besides the state, if anything.
    fn remembered(&self, records: u64) -> String {
        match self.kind.about().remembers {
            "" => String::new(),
            what => format!(", {records} {what} remembered"),
        }
    }

    /// Its status after events were discarded.
    fn left(&self) -> String {
        if self.args.discard {
            format!("; {}", self.kind.about().after_discard)
        } else {
            String::new()
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
            owner: "command line".to_owned(),
            request_id: String::new(),
        };
        let reason = self.args.reason.as_str();
        self.kind.restore(&self.restorer, id, replace, &by, reason).await
    }

    /// A jackpot by its id alone, as before.
    fn say(&self, id: &Id, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stdout().lock(), "{}: {text}", self.kind.name().subject(id))
    }
}
