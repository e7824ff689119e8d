//! What differs between the kinds that a run can play: a jackpot, a coupon, a room. `run` does what is the same.
//!
//! docs/decisions/0033 has the reasons.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::client::Api;
use super::compare::{Comparison, Place};
use super::finding::Rule;
use super::overview::Shown;
use super::report::plots::Plot;
use super::run::{Played, Setup};
use super::service::PrivateService;
use super::subscriber::Receiver;
use super::{Args, SimulateError};

/// The plan of a run, before anything is sent. It is serialised as the parameters of the run.
pub trait Scenario: Shown + Serialize + Sized + Send + Sync + 'static {
    /// The kind, as people and the paths of the API name it.
    const KIND: &'static str;
    /// The option that chooses another id.
    const ID_OPTION: &'static str;
    /// Settings of a private service beside the defaults: variables of the environment with their values.
    const SETTINGS: &'static [(&'static str, &'static str)] = &[];
    /// The rate that the client limits, with its unit.
    const RATE: &'static str;
    /// The rules are judged from the answers and from this.
    const SHOWN: &'static str;
    /// In the order in which a reader understands them best: a violation of an early one explains later ones.
    const RULES: &'static [Rule<Self::Evidence>];

    type Players: Players;
    type Evidence: 'static;

    /// The plan that the options ask for. `knows_secret`: the draw secret of the service is known.
    fn plan(args: &Args, knows_secret: bool) -> Self;

    fn id(&self) -> &str;

    /// Connections that call at the same time.
    fn connections(&self) -> u32;

    /// The definition that the report shows.
    fn definition(&self) -> Value;

    /// The definition that a run begins with.
    fn first_definition(&self) -> Value {
        self.definition()
    }

    /// Prepares the players. The subject is defined already. `service` is the private one, if there is one.
    fn players(
        self: &Arc<Self>,
        setup: &Setup,
        service: Option<&PrivateService>,
    ) -> impl Future<Output = Result<Self::Players, SimulateError>>;

    /// Adds what the service shows after the run.
    fn evidence(
        self: &Arc<Self>,
        setup: &Setup,
        players: &Arc<Self::Players>,
        results: <Self::Players as Players>::Results,
        kills: u32,
    ) -> impl Future<Output = Result<Self::Evidence, SimulateError>>;

    /// Ends the subject, so that nobody plays it after the run.
    fn close(&self, api: &Api) -> impl Future<Output = Result<(), SimulateError>>;

    fn count(evidence: &Self::Evidence, elapsed_s: f64) -> Self::Numbers;

    /// Calls of the client per second, where it was busiest.
    fn client_per_s(numbers: &Self::Numbers, elapsed_s: f64) -> f64;

    /// In the order of the page.
    fn plots(played: &Played<Self>) -> Result<Vec<Plot>, SimulateError>;

    /// Plays the usual ways beside the service; none where there is no such comparison.
    fn compare(_args: &Args, _place: Place<'_>) -> impl Future<Output = Result<Option<Comparison>, SimulateError>> {
        ready(Ok(None))
    }

    /// The path of the subject in the API.
    fn path(&self) -> String {
        format!("/v1/{}s/{}", Self::KIND, self.id())
    }
}

/// All who play, with what they share.
pub trait Players: Send + Sync + 'static {
    type Results;

    /// What the progress bar counts.
    fn steps(&self) -> &'static str;

    fn course(&self) -> Course<'_>;

    /// What the progress bar says beside the count.
    fn message(&self) -> String;

    /// What the service sends its events to. It is killed as often as the service.
    fn receiver(&self) -> Option<&Receiver> {
        None
    }

    /// Lets all of them play to the end. The first that can't go on ends it for all.
    fn play(self: &Arc<Self>) -> impl Future<Output = Result<Self::Results, SimulateError>>;
}

/// How far a run has come.
#[derive(Debug, Clone, Copy)]
pub struct Course<'r> {
    /// Steps that are done, up to `all`.
    pub done: &'r AtomicU64,
    pub all: u64,
    /// Kills at points of the run come before this many steps. The steps after them only look.
    pub eventful: u64,
    pub started: Instant,
}

impl Course<'_> {
    pub fn has_reached(&self, point: u64) -> bool {
        self.done.load(Ordering::Relaxed) >= point
    }

    /// Since its start.
    pub fn micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// `SplitMix64` of a number under a seed: even, cheap, and the same in every run.
pub fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
