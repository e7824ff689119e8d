//! The sorted set of a kind with the ids of all its subjects, in order. Every score is 0.

use std::collections::BTreeSet;

use jackpot_core::ids::Id;
use tracing::warn;

use super::ScriptError;
use crate::store::Store;

/// Ids after `after`, in order, at most `limit`. It may have names of subjects that were never created.
pub async fn ids(store: &Store, index: &str, after: Option<&Id>, limit: usize) -> Result<Vec<Id>, ScriptError> {
    let from = after.map_or_else(|| "-".to_owned(), |id| format!("({id}"));
    let cmd = redis::cmd("ZRANGEBYLEX")
        .arg(index)
        .arg(from)
        .arg("+")
        .arg("LIMIT")
        .arg(0)
        .arg(limit)
        .to_owned();
    let names: Vec<String> = redis::from_redis_value(store.run(&cmd).await?).map_err(|error| ScriptError::Reply {
        script: "ZRANGEBYLEX",
        reply: error.to_string(),
    })?;
    Ok(names.iter().filter_map(|name| Id::parse(name).ok()).collect())
}

/// Names in one read.
const PAGE: usize = 500;

/// The names of an index, and the names that an instance has `used`. The index is on one node of a cluster. If that
/// node is away, the work on subjects of other nodes goes on. `repair`: adds names that the index has lost, and logs
/// problems.
pub async fn all(store: &Store, index: &str, used: Vec<Id>, repair: bool) -> BTreeSet<Id> {
    let mut all = match whole(store, index).await {
        Ok(all) => all,
        Err(error) => {
            if repair {
                warn!(index, %error, "the index can't be read; working on those in use");
            }
            return used.into_iter().collect();
        }
    };
    let lost = used.into_iter().filter(|id| !all.contains(id)).collect::<Vec<_>>();
    if repair && !lost.is_empty() {
        warn!(index, count = lost.len(), "the index has lost names; adding them");
        if let Err(error) = add(store, index, &lost).await {
            warn!(index, %error, "the index was not repaired; the next round tries again");
        }
    }
    all.extend(lost);
    all
}

/// All names of an index.
pub async fn whole(store: &Store, index: &str) -> Result<BTreeSet<Id>, ScriptError> {
    let mut all = BTreeSet::new();
    loop {
        let page = ids(store, index, all.last(), PAGE).await?;
        let full = page.len() == PAGE;
        all.extend(page);
        if !full {
            return Ok(all);
        }
    }
}

/// Adds names. A repeat changes nothing.
pub async fn add(store: &Store, index: &str, ids: &[Id]) -> Result<(), ScriptError> {
    let mut command = redis::cmd("ZADD");
    command.arg(index);
    for id in ids {
        command.arg(0).arg(id.as_str());
    }
    store.run(&command).await?;
    Ok(())
}
