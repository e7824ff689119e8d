//! The progress bar: on stderr, and hidden where stderr is no terminal.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinHandle;

const REFRESH: Duration = Duration::from_millis(100);
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

    /// Shows what the run prepares.
    pub fn say(&self, message: &'static str) {
        self.bar.set_message(message);
        self.bar.tick();
    }

    /// Follows a run of `all` `units`: `look` gives how many are done, and the message.
    pub fn follow(&self, units: &'static str, all: u64, look: impl Fn() -> (u64, String) + Send + 'static) {
        let running = format!("{{bar:32.green/dim}} {{pos}}/{{len}} {units}  {{per_sec}}  {{msg}}  {{eta}} left");
        self.bar.set_length(all);
        self.bar
            .set_style(ProgressStyle::with_template(&running).expect("a valid template"));
        self.bar.reset();
        let bar = self.bar.clone();
        let task = tokio::spawn(async move {
            loop {
                let (done, message) = look();
                bar.set_position(done);
                bar.set_message(message);
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
