//! What many consoles look at all the time: all jackpots, readiness, the last comparisons. An instance reads each once for
//! all of its open consoles, so that fifty of them cost play no more than one.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use serde::Deserialize;
use tokio::time::Instant;

use super::Desk;
use super::compared::{self, Compared};
use super::waiting::{self, Waiting};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::health::{ReadyTold, RefusedSubject};
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::http::problem::{FieldError, ProblemBody};
use jackpot_kernel::single_flight::{Read, SingleFlight};

/// Largest age of what a page shows.
const AGE: Duration = Duration::from_secs(1);
/// Largest age on the overview of comparisons, which are made every half minute, and of what waits: each is some KB for
/// each jackpot.
const COMPARED_AGE: Duration = Duration::from_secs(5);
/// Between two readings.
const PAUSE: Duration = Duration::from_millis(500);

/// Jackpots of the overview; the others are on the next pages of their list.
const JACKPOTS: &str = "/v1/jackpots?limit=50";

/// What the API has told.
pub type Told<T> = Arc<Read<Result<T, ProblemBody>>>;

/// The last readings of this instance.
#[derive(Default)]
pub struct Shared {
    jackpots: SingleFlight<Result<PageBody<Jackpot>, ProblemBody>>,
    readiness: SingleFlight<Result<Readiness, ProblemBody>>,
    compared: SingleFlight<Result<Vec<Compared>, ProblemBody>>,
    waiting: SingleFlight<Result<Waiting, ProblemBody>>,
}

/// Whether the instance can serve, and what is refused.
#[derive(Debug, Deserialize)]
pub struct Readiness {
    #[serde(flatten)]
    pub told: ReadyTold,
    /// Why it is not ready; empty when it is.
    #[serde(default)]
    pub errors: Vec<FieldError>,
}

impl Readiness {
    /// The jackpots, coupons and rooms that this instance refuses.
    pub fn refused(&self) -> &[RefusedSubject] {
        self.told.refused_subjects.as_deref().unwrap_or_default()
    }
}

impl Desk {
    /// The first jackpots.
    pub async fn jackpots(&self) -> Told<PageBody<Jackpot>> {
        let of = &self.console.shared.jackpots;
        self.told(of, AGE, || self.ask(JACKPOTS)).await
    }

    /// Whether the instance is ready, and what it refuses.
    pub async fn readiness(&self) -> Told<Readiness> {
        let of = &self.console.shared.readiness;
        self.told(of, AGE, || self.ask_also("/readyz", StatusCode::SERVICE_UNAVAILABLE))
            .await
    }

    /// The last comparison of every subject.
    pub async fn comparisons(&self) -> Told<Vec<Compared>> {
        let of = &self.console.shared.compared;
        self.told(of, AGE, || compared::read(self)).await
    }

    /// The same, seen so often that an older one will do.
    pub async fn older_comparisons(&self) -> Told<Vec<Compared>> {
        let of = &self.console.shared.compared;
        self.told(of, COMPARED_AGE, || compared::read(self)).await
    }

    /// What waits for a person.
    pub async fn waiting(&self) -> Told<Waiting> {
        let of = &self.console.shared.waiting;
        self.told(of, COMPARED_AGE, || waiting::read(self)).await
    }

    /// A reading for all. A bound key has its own: it sees other things.
    async fn told<T, F: Future<Output = Result<T, ProblemBody>>>(
        &self,
        of: &SingleFlight<Result<T, ProblemBody>>,
        age: Duration,
        read: impl FnOnce() -> F,
    ) -> Told<T> {
        if self.is_bound() {
            let begun = Instant::now();
            let value = read().await;
            return Arc::new(Read { begun, value });
        }
        // A refusal may be that of one key, such as its rate.
        of.get(PAUSE, |last| last.value.is_ok() && last.begun.elapsed() < age, read)
            .await
    }
}
