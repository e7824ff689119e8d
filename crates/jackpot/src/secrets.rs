//! The needed draw secrets: of open and unpublished epochs, in Redis and in the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jackpot_core::ids::Id;

use super::error::PlayError;
use super::operate::Operate;
use super::scripts::ScriptError;
use super::view::{View, Views};
use crate::ledger::lookup::needed_secrets;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::start::LedgerOpenError;

/// Most jackpots named in one message.
const MAX_NAMED: usize = 10;

/// Missing secrets, by id, and the jackpots that need them.
#[derive(Debug, Default)]
pub struct MissingSecrets(BTreeMap<String, BTreeSet<Id>>);

/// Why jackpots do not start.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// Pending draws need secrets that this instance does not have.
    #[error(
        "{0}: an epoch or a cycle that is open or whose seed is not published yet, or an entry without an outcome, needs that secret; \
         add it to fairness.previous_secrets (or set fairness.master_secret to it, or put its master.secret back into the data \
         directory)"
    )]
    Missing(MissingSecrets),
    /// The ledger can't be read.
    #[error("ledger: {0}")]
    Ledger(#[from] LedgerOpenError),
}

impl MissingSecrets {
    fn add(&mut self, secret_id: String, id: Id) {
        self.0.entry(secret_id).or_default().insert(id);
    }
}

impl fmt::Display for MissingSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (secret_id, jackpots)) in self.0.iter().enumerate() {
            let named = jackpots.iter().take(MAX_NAMED).map(|id| format!("'{id}'"));
            let named = named.collect::<Vec<_>>().join(", ");
            let start = if i == 0 { "" } else { "; " };
            write!(
                f,
                "{start}the draw secret with the id {secret_id} is missing for jackpot {named}"
            )?;
            if jackpots.len() > MAX_NAMED {
                write!(f, " and {} others", jackpots.len() - MAX_NAMED)?;
            }
        }
        Ok(())
    }
}

/// Refuses to start without a needed secret. Otherwise pending entries could not be finished, every entry of an open
/// epoch would be refused, and the seed of a closed one could never be published.
pub async fn check(views: &Views, ledger: &Ledger) -> Result<(), SecretsError> {
    let mut missing = MissingSecrets::default();
    let read = |id| async move { views.refresh(&id).await.map(|(_, view)| view) };
    let check = |id: &Id, view: Result<Arc<View>, PlayError>| {
        match view {
            Err(PlayError::NoSecret { id, secret_id, .. }) => missing.add(secret_id, id),
            Err(PlayError::Script(ScriptError::Unknown)) => {}
            Ok(view) => {
                for secret_id in view.cycles.missing() {
                    missing.add(secret_id.to_owned(), id.clone());
                }
            }
            // A jackpot that cannot be read now returns this error to its callers. The others are served.
            Err(error) => tracing::error!(jackpot_id = %id, %error, "this jackpot can't be read"),
        }
        Ok::<(), SecretsError>(())
    };
    views.registry.read_all(read, check).await?;
    for (id, secret_id) in needed_secrets(&ledger.sql).await.map_err(LedgerOpenError::from)? {
        if views.secrets.get(&secret_id).is_none() {
            missing.add(secret_id, id);
        }
    }
    if missing.0.is_empty() {
        Ok(())
    } else {
        Err(SecretsError::Missing(missing))
    }
}

/// Ends open cycles that are not under the current secret: from the first start with a new one on, no trigger needs the
/// old one. A jackpot for which that fails plays on, and its cycles end at the next start.
pub async fn leave_others(operate: &Operate) -> Result<(), SecretsError> {
    let read = |id| async move { operate.leave_other_secrets(&id).await };
    let log = |id: &Id, left: Result<(), PlayError>| {
        match left {
            Err(PlayError::Script(ScriptError::Unknown)) | Ok(()) => {}
            Err(error) => tracing::error!(jackpot_id = %id, %error, "its cycles stay under an earlier draw secret"),
        }
        Ok::<(), SecretsError>(())
    };
    operate.views.registry.read_all(read, log).await
}
