//! Asks the database from threads of another runtime. A connection keeps the priority of the thread that opened it, and ends
//! with that thread's runtime, so none may be opened by work that runs in the background.

use sqlx::Error;
use tokio::runtime::Handle;
use tokio::task::JoinError;

use super::Sql;

/// The database, asked on the threads of the runtime that made this.
#[derive(Debug, Clone)]
pub struct AtHome {
    sql: Sql,
    threads: Handle,
}

impl AtHome {
    /// Within the runtime that opened the database.
    pub fn of(sql: Sql) -> Self {
        Self {
            sql,
            threads: Handle::current(),
        }
    }

    /// Runs `work` there.
    ///
    /// # Errors
    /// Those of `work`, or that its runtime has ended.
    pub async fn ask<T, E, W>(&self, work: impl FnOnce(Sql) -> W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        W: Future<Output = Result<T, E>> + Send + 'static,
    {
        let done = self.threads.spawn(work(self.sql.clone())).await;
        done.unwrap_or_else(|error| Err(ended(error).into()))
    }
}

/// A panic goes on where the answer is awaited.
fn ended(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Error::PoolClosed,
    }
}
