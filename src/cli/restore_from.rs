//! `jackpot restore --from DIR`: starts an empty data directory, database and Redis with a backup.

use std::io::Write as _;
use std::path::Path;

use super::restore::{Args, adopt};
use crate::backup::manifest::Manifest;
use crate::backup::restore::From;
use crate::settings::{RedisMode, Settings};
use crate::sql::Sql;
use crate::store::{Store, keys};

type Done<T> = Result<T, Box<dyn std::error::Error>>;

/// Whether everything was rebuilt.
pub(super) async fn restore_from(args: &Args, backup: &Path, settings: Settings) -> Done<bool> {
    let from = From::look(&settings, backup).await?;
    demand_empty_redis(&settings, &from).await?;
    let mut out = std::io::stdout();
    for remark in from.begin(&settings).await? {
        writeln!(out, "{remark}")?;
    }
    let sql = Sql::open_to_read(&settings.ledger, &settings.data_dir).await?;
    writeln!(out, "ledger {} is in its place", sql.ledger_id())?;
    sql.close().await;
    // A new store, because the store in the backup's ledger may still exist.
    if !Box::pin(adopt(args, settings.clone())).await? {
        return Ok(false);
    }
    say(&from.manifest)?;
    from.end(&settings)?;
    Ok(true)
}

/// A private Redis is empty with its data directory. An external one is checked.
async fn demand_empty_redis(settings: &Settings, from: &From) -> Done<()> {
    if settings.redis.mode == RedisMode::Embedded {
        return Ok(());
    }
    let store = Store::beside(&settings.redis, &settings.data_dir).await?;
    let asked = async {
        let keys = store.count_keys().await?;
        let ledger = store.run(redis::cmd("GET").arg(keys::LEDGER)).await?;
        let ledger: Option<String> = redis::from_redis_value(ledger).unwrap_or_default();
        Ok::<_, Box<dyn std::error::Error>>((keys, ledger))
    };
    let asked = asked.await;
    store.close().await;
    let (keys, ledger) = asked?;
    let ours = ledger.is_some_and(|ledger| ledger.starts_with(&from.manifest.ledger_id));
    if keys == 0 || (from.goes_on && ours) {
        return Ok(());
    }
    Err(format!("Redis holds {keys} keys: a backup is restored into an empty one; set redis.urls to another").into())
}

/// What is lost.
fn say(manifest: &Manifest) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "restored as of the backup of {}:", manifest.made_at)?;
    for one in &manifest.subjects {
        writeln!(
            out,
            "  {} {}: event {} at {} is the last that is there",
            one.kind, one.id, one.event, one.at
        )?;
    }
    writeln!(
        out,
        "LOST: every answer after these events. Their entries, payouts and issues are unknown here, and a repeat of such an id \
         is a new request: compare them with what your game back end has. Tickets and passes of rooms are gone."
    )
}
