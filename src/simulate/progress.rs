//! The progress bar: on stderr, and hidden where stderr is no terminal.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinHandle;

use super::players::Game;

const REFRESH: Duration = Duration::from_millis(100);
const RUNNING: &str = "{bar:32.green/dim} {pos}/{len} entries  {per_sec}  {msg}  {eta} left";
const PREPARING: &str = "{spinner:.green} {msg}";

/// The bar of one run. Dropping it ends its task.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Bar {
    /// Nothing is drawn when `quiet`.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        bar.set_style(ProgressStyle::with_template(PREPARING).expect("a valid template"));
        Self {
            bar,
            task: Mutex::new(None),
        }
    }

    /// What is being prepared.
    pub fn say(&self, message: &'static str) {
        self.bar.set_message(message);
        self.bar.tick();
    }

    /// Follows a game.
    pub fn start(&self, game: Arc<Game>, entries: u64) {
        self.bar.set_length(entries);
        self.bar
            .set_style(ProgressStyle::with_template(RUNNING).expect("a valid template"));
        self.bar.reset();
        let bar = self.bar.clone();
        let task = tokio::spawn(async move {
            loop {
                let seen = &game.progress;
                let number = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
                bar.set_position(number(&seen.entries));
                bar.set_message(format!(
                    "{} paid  {} retries  {} replays  {} collisions",
                    number(&seen.paid),
                    number(&seen.retries),
                    number(&seen.replays),
                    number(&seen.collisions)
                ));
                tokio::time::sleep(REFRESH).await;
            }
        });
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Removes it.
    pub fn finish(&self) {
        self.end();
        self.bar.finish_and_clear();
    }

    fn end(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.end();
    }
}
