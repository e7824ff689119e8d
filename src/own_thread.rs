//! Work that keeps to a thread of its own: its tasks and connections wake one another without other threads, and what it does
//! runs beside requests, not between them.

use std::io;
use std::thread;

use tokio::runtime;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

/// Does the work that `begin` makes on a new thread, and waits for its end.
///
/// # Errors
/// The thread can't be started, or the work panicked, which is in the log.
pub async fn on_own_thread<W>(name: &str, begin: impl FnOnce() -> W + Send + 'static) -> io::Result<()>
where
    W: Future<Output = ()>,
{
    let (ended, end) = oneshot::channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let result = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map(|runtime| LocalSet::new().block_on(&runtime, begin()));
        // Nobody waits for it when the service was dropped.
        let _ = ended.send(result);
    })?;
    end.await.unwrap_or_else(|_| Err(io::Error::other("its thread ended")))
}
