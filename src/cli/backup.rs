//! `jackpot backup`: the ledger, keys and secrets in a directory, with or without a running service.

use std::io::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;

use super::session::{self, Session};
use super::{CommandResult, SettingsArgs, until_signalled};
use crate::app::capabilities;
use crate::backup::directory::Partial;
use crate::backup::manifest::{FORMAT, FileEntry, Manifest};
use crate::backup::secrets::{self, Secrets};
use crate::backup::{LEDGER, check, inside, marks, restore};
use crate::settings::Settings;
use crate::sql::{Kind, Sql, copy};
use crate::store::Store;

type Done<T> = Result<T, Box<dyn std::error::Error>>;

/// Copy the ledger, keys and secrets of a running or stopped service into a directory, and read the copy back.
///
/// The copy has every entry that was acknowledged before the command started. It is made as of one instant, while play
/// goes on. Redis needs no copy, because it is rebuilt. `jackpot restore --from DIR` starts with it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Target: a directory that does not exist, or is empty. It appears whole or not at all.
    directory: PathBuf,
    /// Copy the ledger as it is, without asking Redis for more: when Redis is lost, or a stream has stopped.
    #[arg(long)]
    ledger_only: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let settings = Settings::load(args.settings.config.as_deref())?;
    // Every file made here is a secret.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    until_signalled(backup(args, &settings))
}

async fn backup(args: &Args, settings: &Settings) -> CommandResult {
    restore::refuse_unfinished(&settings.data_dir)?;
    // First, because a look must not create anything.
    let sql = Sql::open_to_read(&settings.ledger, &settings.data_dir).await?;
    drop(Secrets::take(settings)?);
    let partial = Partial::begin(&args.directory)?;
    if !args.ledger_only {
        catch_up(settings, &sql)
            .await
            .map_err(|error| format!("{error} (to copy what the ledger has, without asking Redis: --ledger-only)"))?;
    }
    copy::copy_to_file(&settings.ledger, &settings.data_dir, &partial.path().join(LEDGER)).await?;
    // After the ledger, so that a key made meanwhile has signed nothing in it.
    let secrets = Secrets::take(settings)?;
    secrets.write(&partial)?;
    let manifest = read_back(settings, &partial, &sql, &secrets, !args.ledger_only).await?;
    sql.close().await;
    say(&manifest, args)?;
    manifest.write(partial)?;
    Ok(())
}

/// Waits until the ledger has everything that Redis has now.
async fn catch_up(settings: &Settings, sql: &Sql) -> CommandResult {
    match Session::open(settings.clone()).await {
        Ok(session) => {
            let redis = marks::of_redis(&capabilities::loads(), &session.store, sql).await;
            let projecting = session.project();
            let done = async { marks::wait(sql, &redis?, marks::LIMIT).await }.await;
            projecting.end().await?;
            session.close().await;
            Ok(done?)
        }
        // A service has them, and its projector is running.
        Err(error) if session::is_held(&*error) => {
            let store = Store::beside(&settings.redis, &settings.data_dir).await?;
            let done = async {
                let redis = marks::of_redis(&capabilities::loads(), &store, sql).await?;
                marks::wait(sql, &redis, marks::LIMIT).await
            };
            let done = done.await;
            store.close().await;
            Ok(done?)
        }
        Err(error) => Err(error),
    }
}

async fn read_back(
    settings: &Settings,
    partial: &Partial,
    source: &Sql,
    secrets: &Secrets,
    caught_up: bool,
) -> Done<Manifest> {
    let inside = inside(settings, partial.path());
    let sql = Sql::open_to_read(&inside.ledger, partial.path()).await?;
    let subjects = check::read_back(&sql, &capabilities::loads()).await;
    let needed = check::needed_secrets(&sql).await;
    let ledger_id = sql.ledger_id().to_owned();
    let store = sql.store().await;
    sql.close().await;
    let names = secrets::names(settings, partial.path())?;
    for id in needed?.iter().filter(|id| !names.secret_ids.contains(id)) {
        eprintln!(
            "warning: epochs that are open or not yet published need the draw secret {id}, which is neither in the settings nor \
             in the data directory, and so not in the backup"
        );
    }
    let files = std::iter::once(LEDGER).chain(secrets.files());
    let files = files.map(|name| FileEntry::of(partial.path(), name));
    Ok(Manifest {
        format: FORMAT,
        program: format!("jackpot {}", env!("CARGO_PKG_VERSION")),
        made_at: Timestamp::from_millisecond(Timestamp::now().as_millisecond())?,
        database: match source.kind() {
            Kind::Sqlite => "SQLite",
            Kind::Postgres => "PostgreSQL",
        }
        .to_owned(),
        ledger_id,
        store_id: store?.store.map(|store| store.to_string()),
        caught_up,
        secret_ids: names.secret_ids,
        signing_key_ids: names.signing_key_ids,
        api_keys: names.api_keys,
        subjects: subjects?,
        files: files.collect::<Result<_, _>>()?,
    })
}

fn say(manifest: &Manifest, args: &Args) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let directory = args.directory.display();
    writeln!(
        out,
        "{directory}: ledger {}, {}",
        manifest.ledger_id,
        check::counted(&manifest.subjects)
    )?;
    for one in &manifest.subjects {
        writeln!(out, "  {} {}: event {} at {}", one.kind, one.id, one.event, one.at)?;
    }
    writeln!(out, "  draw secrets {}", manifest.secret_ids.join(", "))?;
    writeln!(out, "  signing keys {}", manifest.signing_key_ids.join(", "))?;
    writeln!(out, "  API keys {}", manifest.api_keys.join(", "))?;
    if !manifest.caught_up {
        writeln!(out, "  Redis was not asked: events that the ledger lacks are not in it")?;
    }
    drop(out);
    eprintln!(
        "warning: {directory} holds every secret of the service. A reader knows all draws to come, can sign receipts and can \
         call the service as its operator. Keep it as you keep master.secret."
    );
    Ok(())
}
