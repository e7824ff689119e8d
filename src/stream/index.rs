//! The sorted sets that name all jackpots and all coupons, in order: every score is 0.

use super::ScriptError;
use crate::ids::Id;
use crate::store::Store;

/// Ids behind `after` in order, at most `limit`; names of what was never created may be among them.
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

/// Adds names. Repeating it changes nothing.
pub async fn add(store: &Store, index: &str, ids: &[Id]) -> Result<(), ScriptError> {
    let mut command = redis::cmd("ZADD");
    command.arg(index);
    for id in ids {
        command.arg(0).arg(id.as_str());
    }
    store.run(&command).await?;
    Ok(())
}
