//! `jackpot ledger show` and `jackpot ledger skip`: for a stream that an event stops.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, Subcommand};
use jackpot_core::ids::Id;
use jackpot_core::text::{Reason, printable};

use super::only::{Asks, Only, Options, flag};
use super::session::Session;
use super::{SettingsArgs, examples, failed, until_signalled};
use crate::ledger::kinds::AnyKind;
use crate::ledger::projector::lease::Leases;
use crate::ledger::stuck::{At, Outcome, Skip, StuckEvent};
use crate::operator::Operator;
use crate::settings::Settings;
use crate::subject::kinds::KindName;

/// Longest shown value of a field, in characters.
const MAX_SHOWN: usize = 2_000;
/// Longest wait for the events after a skipped one.
const CATCH_UP: Duration = Duration::from_mins(1);

/// Show the ledger's progress with a stream, and skip an event that it can't apply.
///
/// With the embedded Redis or SQLite the service must be stopped. On PostgreSQL with an external Redis both commands
/// work beside a running service: they take the lease of the stream meanwhile.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Show the ledger's progress, the event that it can't apply, why, and the effect of skipping it.
    ///
    /// Exit code 0: nothing is stuck; 1: an event is stuck; 2: the state is unknown.
    #[command(after_help = examples::LEDGER_SHOW)]
    Show {
        #[command(flatten)]
        of: Options<One>,
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Skip the event that the ledger can't apply, and go on after it.
    ///
    /// The event stays unchanged in the record under its number, with its hash in the chain. The ledger takes the
    /// event's effect from Redis: money, records of entries, payouts. The jackpot stays suspended until it is resumed.
    /// Exit code 1 if the event was not skipped, or if another event after it is stuck.
    #[command(after_help = examples::LEDGER_SKIP)]
    Skip {
        #[command(flatten)]
        of: Options<One>,
        /// Number of the stuck event, from `show`.
        #[arg(long, value_name = "N")]
        event: u64,
        /// The reason, for the audit trail.
        #[arg(long, value_name = "TEXT")]
        reason: Reason,
        #[command(flatten)]
        settings: SettingsArgs,
    },
}

/// One subject. A kind whose ids have no prefix needs no option.
struct One;

impl Asks for One {
    const GROUP: &'static str = "Of";
    const REQUIRED: bool = true;

    fn option(kind: KindName) -> Arg {
        if kind.has_prefix() {
            flag(kind).help(format!("This {kind}"))
        } else {
            Arg::new(kind.as_str()).value_name("ID").help(format!("The {kind}"))
        }
    }
}

type Done = Result<bool, Box<dyn std::error::Error>>;

pub(super) fn run(args: &Args) -> ExitCode {
    let (of, settings, skip) = match &args.action {
        Action::Show { of, settings } => (of, settings, None),
        Action::Skip {
            of,
            event,
            reason,
            settings,
        } => (of, settings, Some((*event, reason))),
    };
    let done = Settings::load(settings.config.as_deref())
        .map_err(Into::into)
        .and_then(|settings| until_signalled(work(of, settings, skip)));
    match (done, skip) {
        (Ok(true), _) => ExitCode::SUCCESS,
        (Ok(false), _) => ExitCode::FAILURE,
        (Err(error), None) => {
            failed(&*error);
            ExitCode::from(2)
        }
        (Err(error), Some(_)) => failed(&*error),
    }
}

async fn work(of: &Options<One>, settings: Settings, skip: Option<(u64, &Reason)>) -> Done {
    let only = Only::of(of)?;
    let (kind, id) = only.one().ok_or("name one subject")?;
    let session = Session::open(settings).await?;
    session.catch_up().await;
    let kind = session.kinds.named(kind).ok_or("this service has no such kind")?;
    let work = Work {
        session: &session,
        kind: &**kind,
    };
    let done = Box::pin(work.run(id, skip)).await;
    session.close().await;
    done
}

/// One stream of a kind.
struct Work<'a> {
    session: &'a Session,
    kind: &'a dyn AnyKind,
}

impl Work<'_> {
    async fn run(&self, id: &Id, skip: Option<(u64, &Reason)>) -> Done {
        let session = self.session;
        let sql = session.ledger.sql.clone();
        let leases = Leases::of(self.kind.name(), sql, session.instance.clone(), session.lease_ms());
        let done = match leases.take(id).await {
            Ok(Some(token)) => leases.during(self.with_lease(id, token, skip)).await,
            Ok(None) => Err(self.unknown(id)),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = leases.release().await {
            eprintln!("jackpot: the lease was not released: {error}; it expires");
        }
        if !matches!((&done, skip), (Ok(true), Some(_))) {
            return done;
        }
        self.go_on(&leases, id).await
    }

    fn unknown(&self, id: &Id) -> Box<dyn std::error::Error> {
        format!("the ledger has no {} '{id}'", self.kind.name().as_str()).into()
    }

    async fn with_lease(&self, id: &Id, token: i64, skip: Option<(u64, &Reason)>) -> Done {
        let session = self.session;
        let by = Operator {
            who: "command line".to_owned(),
            owner: "command line".to_owned(),
            request_id: String::new(),
        };
        let at = At {
            ledger: &session.ledger,
            store: &session.store,
            id,
            token,
            index: session.indexes_entries(),
            skip: skip.map(|(n, reason)| Skip {
                n,
                by: &by,
                reason: reason.as_str(),
            }),
        };
        match self.kind.stuck(at).await? {
            Outcome::Fine(n) => {
                self.say(
                    id,
                    &format!("nothing is stuck; the ledger can apply all events up to {n}"),
                )?;
                match skip {
                    Some((n, _)) => Err(format!("event {n} is not stuck: nothing was skipped").into()),
                    None => Ok(true),
                }
            }
            Outcome::Stuck {
                at,
                event,
                lines,
                follow,
                stop,
            } => {
                self.show(id, at, &event, &lines, follow, stop)?;
                Ok(false)
            }
            Outcome::Other(stuck) => {
                let n = skip.map(|(n, _)| n).unwrap_or_default();
                Err(format!("event {n} is not the stuck one, which is event {stuck}: nothing was skipped").into())
            }
            Outcome::Skipped { event, lines } => {
                let why = printable(&event.why, MAX_SHOWN);
                self.say(id, &format!("event {} is skipped: {why}", event.n))?;
                Self::lines("  ", &lines)?;
                Ok(true)
            }
        }
    }

    /// Brings the ledger up to the end of the stream. Returns whether it gets there.
    async fn go_on(&self, leases: &Leases, id: &Id) -> Done {
        // A service beside this command may do it first.
        if tokio::time::timeout(CATCH_UP, self.session.catch_up()).await.is_err() {
            self.say(id, "the ledger has not read all later events yet")?;
        }
        let mut places = leases.places_of(std::slice::from_ref(id)).await?;
        let Some(place) = places.pop() else {
            return Err(self.unknown(id));
        };
        let stopped = place.view.stopped;
        if stopped.is_empty() {
            let what = self.kind.name().as_str();
            self.say(
                id,
                &format!("the ledger is at event {}; resume the {what} when it agrees", place.n),
            )?;
            return Ok(true);
        }
        self.say(id, &format!("stuck again after event {}: {stopped}", place.n))?;
        Ok(false)
    }

    fn show(
        &self,
        id: &Id,
        at: u64,
        event: &StuckEvent,
        carried: &[String],
        follow: usize,
        stop: Option<String>,
    ) -> std::io::Result<()> {
        let StuckEvent { n, raw, why } = event;
        self.say(
            id,
            &format!("STUCK: the ledger is at event {at}, and can't apply event {n}"),
        )?;
        let mut lines = vec![format!("why: {}", printable(why, MAX_SHOWN))];
        match raw {
            None => lines.push("the stream has no event with this number".to_owned()),
            Some(raw) => {
                lines.push(format!("id in the stream: {}", raw.stream_id));
                let field = |(name, value): (&str, &str)| {
                    format!("  {} = {}", printable(name, MAX_SHOWN), printable(value, MAX_SHOWN))
                };
                lines.push("its fields:".to_owned());
                lines.extend(raw.fields.iter().map(field));
            }
        }
        lines.push(format!(
            "skipping it (`jackpot ledger skip … --event {n} --reason TEXT`) carries on from Redis:"
        ));
        lines.extend(carried.iter().map(|line| format!("  {line}")));
        lines.push(match stop {
            None => format!("then all {follow} later events can be applied, and Redis and the ledger agree"),
            Some(stop) => format!(
                "then {follow} later events can be applied: {}",
                printable(&stop, MAX_SHOWN)
            ),
        });
        Self::lines("  ", &lines)
    }

    fn say(&self, id: &Id, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stdout().lock(), "{}: {text}", self.kind.name().subject(id))
    }

    fn lines(indent: &str, lines: &[String]) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        lines.iter().try_for_each(|line| writeln!(out, "{indent}{line}"))
    }
}
