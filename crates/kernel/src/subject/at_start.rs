//! Reads all subjects of a kind, for the checks of a start.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use jackpot_core::ids::Id;

use super::{MaybeScript, Registry, Subject};

/// Subjects read in parallel.
const AT_ONCE: usize = 64;

impl<K: Subject> Registry<K> {
    /// Reads every subject, and passes each answer to `check`. A node of a cluster may be away. Then its subjects are not
    /// checked, because they answer 503, and only the first of them are asked: each would cost the limit of a call.
    ///
    /// # Errors
    /// The first error of `check`.
    pub async fn read_all<T, E: MaybeScript, F: Future<Output = Result<T, E>>, Wrong>(
        &self,
        read: impl Fn(Id) -> F,
        mut check: impl FnMut(&Id, Result<T, E>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let all = self.all(true).await;
        let away: Mutex<BTreeSet<Option<Arc<str>>>> = Mutex::default();
        let locked = || away.lock().unwrap_or_else(PoisonError::into_inner);
        let reads = stream::iter(all.iter()).map(|id| {
            let (read, locked) = (&read, &locked);
            async move {
                let node = self.store().node_of(self.known(id).stream().state);
                if locked().contains(&node) {
                    return (id, None);
                }
                let answer = read(id.clone()).await;
                if answer.as_ref().is_err_and(MaybeScript::is_unavailable) {
                    locked().insert(node);
                }
                (id, Some(answer))
            }
        });
        let mut reads = pin!(reads.buffer_unordered(AT_ONCE));
        let mut unread = 0_usize;
        while let Some((id, answer)) = reads.next().await {
            match answer {
                Some(answer) if !answer.as_ref().is_err_and(MaybeScript::is_unavailable) => check(id, answer)?,
                Some(_) | None => unread += 1,
            }
        }
        if unread > 0 {
            let nodes = locked()
                .iter()
                .flatten()
                .map(AsRef::as_ref)
                .collect::<Vec<_>>()
                .join(", ");
            tracing::error!(
                subjects = unread,
                nodes,
                "not checked, because their nodes do not answer: they get 503 until then"
            );
        }
        Ok(())
    }
}
