//! Waits until the cursor of a subject has what its target has just answered. A target knows of an event before the cursor in
//! SQL does, so what an operator says of that event right then must not be refused.

use std::time::{Duration, Instant};

use jackpot_core::ids::Id;
use tokio::time::sleep;

use super::reading::Position;
use super::store::{StoreError, StreamRow, Subscriptions};
use jackpot_kernel::subject::kinds::KindName;

/// Longest wait for a cursor: many commits of a slow disk.
const WAITS: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The cursor of a subject: once it stands at `wanted` or after it, or when waiting for that has no use.
pub(super) async fn reached(
    subscriptions: &Subscriptions,
    id: &Id,
    kind: KindName,
    subject: &Id,
    wanted: Position,
) -> Result<StreamRow, StoreError> {
    let begun = Instant::now();
    loop {
        let row = subscriptions.stream(id, kind, subject).await?;
        let row = row.ok_or(StoreError::NoSubject)?;
        // After a failed try nothing is on its way.
        if row.position() >= wanted || row.tries > 0 || begun.elapsed() >= WAITS {
            return Ok(row);
        }
        if subscriptions.last_event(kind, subject).await? < wanted.n {
            return Ok(row);
        }
        sleep(PAUSE).await;
    }
}
