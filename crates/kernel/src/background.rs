//! A thread for work that may wait, so that it takes little from requests when processors are scarce.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::process::setpriority_process;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tracing::debug;

/// The lowest priority: beside busy threads it gets some percent of a processor. A thread that it starts has it too, so
/// connections to SQL, each of which is a thread or outlives this one, must not begin here.
const LOWEST: i32 = 19;

/// How urgent the work of the thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// It waits for all other threads.
    Low,
    /// It has its share of the processors.
    Normal,
}

/// The thread. Its tasks end when this is dropped.
#[derive(Debug)]
pub struct Background {
    tasks: Handle,
    _end: oneshot::Sender<()>,
}

impl Background {
    /// Starts the thread. Its tasks wake one another without other threads.
    ///
    /// # Errors
    /// The system has no thread or file left.
    pub fn start(name: &str, urgency: Urgency) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let tasks = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // On Linux without an id: this thread alone.
            if urgency == Urgency::Low
                && let Err(error) = setpriority_process(None, LOWEST)
            {
                debug!(%error, "a thread for work that may wait has the priority of others");
            }
            // It ends either way.
            let _dropped = runtime.block_on(ended);
        })?;
        Ok(Self { tasks, _end: end })
    }

    /// The time of a processor that the thread of the caller has had.
    pub fn worked() -> Duration {
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    }

    /// Where tasks of the thread are spawned.
    pub fn tasks(&self) -> &Handle {
        &self.tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn its_tasks_have_the_lowest_priority_and_this_thread_keeps_its_own() {
        let own = || rustix::process::getpriority_process(None).expect("a priority");
        let before = own();
        let background = Background::start("test", Urgency::Low).expect("a thread");
        let tasks = background.tasks();
        let (there, name) = tasks
            .spawn(async move { (own(), thread::current().name().map(str::to_owned)) })
            .await
            .expect("a task");
        assert_eq!((there, name.as_deref()), (LOWEST, Some("test")));
        assert_eq!(own(), before);
        let endless = tasks.spawn(std::future::pending::<()>());
        drop(background);
        assert!(endless.await.expect_err("it has an end").is_cancelled());
    }
}
