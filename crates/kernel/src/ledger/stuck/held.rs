//! Reads what Redis holds of a subject.

use std::collections::HashMap;

use redis::{Cmd, FromRedisValue, cmd};

use super::StuckError;
use crate::store::Store;

/// Fields of one HSCAN.
const PAGE: u32 = 1_000;

/// All pairs of a hash, page by page.
pub async fn scan(store: &Store, key: &str, mut each: impl FnMut(String, String)) -> Result<(), StuckError> {
    let mut cursor = "0".to_owned();
    loop {
        let page = cmd("HSCAN").arg(key).arg(&cursor).arg("COUNT").arg(PAGE).to_owned();
        let (next, pairs): (String, Vec<(String, String)>) = read(store, &page).await?;
        for (name, text) in pairs {
            each(name, text);
        }
        if next == "0" {
            return Ok(());
        }
        cursor = next;
    }
}

/// A small hash, whole.
pub async fn hash(store: &Store, key: &str) -> Result<HashMap<String, String>, StuckError> {
    read(store, cmd("HGETALL").arg(key)).await
}

/// The reply of a command, parsed.
pub async fn read<T: FromRedisValue>(store: &Store, command: &Cmd) -> Result<T, StuckError> {
    let value = store.run(command).await?;
    T::from_redis_value(value).map_err(|error| StuckError::Redis(error.to_string()))
}
