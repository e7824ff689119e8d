//! Signals answers without an end, such as streams, that they must end now.

use tokio::sync::watch;

/// Cheap to clone; all clones stop together.
#[derive(Clone)]
pub struct Stopping(watch::Sender<bool>);

impl Default for Stopping {
    fn default() -> Stopping {
        Stopping(watch::Sender::new(false))
    }
}

impl Stopping {
    /// From now on [`Stopping::wait`] returns at once.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Whether the service is stopping.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the service stops.
    pub async fn wait(&self) {
        // It fails only when the sender is gone, which `self` holds.
        let _ = self.0.subscribe().wait_for(|stopping| *stopping).await;
    }
}
