//! The sorted set of a kind with the ids of all its subjects, in order. Every score is 0.

use std::collections::BTreeSet;

use jackpot_core::ids::Id;

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

/// How many names an index has.
pub async fn count(store: &Store, index: &str) -> Result<usize, ScriptError> {
    let count = store.run(&redis::cmd("ZCARD").arg(index).to_owned()).await?;
    redis::from_redis_value(count).map_err(|error| ScriptError::Reply {
        script: "ZCARD",
        reply: error.to_string(),
    })
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
