//! Rounds of everything side by side. Each round has new processes and empty databases, so that no point is measured on
//! what an earlier round left. Within a round every point is measured once, one after the other.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bare_redis::BareRedis;
use crate::peer::Kind;
use crate::plan::Peers;
use crate::sample::{Load, Sample};
use crate::service::Service;
use crate::{Outcome, batches, coupons, events, intake, lock, paced, plays, postgres, report, wrk};

/// Load before the measurement: it fills caches, connections and tables of a new process.
const WARM_UP: Duration = Duration::from_secs(1);
/// Number of jackpots of the loads over many.
const MANY_JACKPOTS: usize = 100;
/// Clients that compete for the lock, and clients of the loads at a fixed rate.
const CLIENTS: usize = 64;
/// Last parts of the paths.
const ENTRIES: &str = "entries";
const DIRECT: &str = "direct-entries";

/// A point that could not be measured, and why.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Failure {
    pub(crate) point: String,
    pub(crate) round: usize,
    pub(crate) why: String,
}

/// The results of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) samples: Vec<Sample>,
    pub(crate) failures: Vec<Failure>,
}

/// One round.
pub(crate) struct Round<'r> {
    pub(crate) plan: &'r Peers,
    pub(crate) number: usize,
    results: &'r mut Results,
}

impl Round<'_> {
    /// Measures a point if it is wanted.
    pub(crate) async fn measure(&mut self, point: &str, measuring: impl Future<Output = Outcome<Sample>>) {
        if self.plan.wants(point) {
            let measured = Box::pin(measuring).await;
            self.done(point, measured);
        }
    }

    /// A load that no ledger has.
    pub(crate) async fn plain(&mut self, point: &str, load: impl Future<Output = Outcome<Load>>) {
        let (number, load) = (self.number, Box::pin(load));
        let measuring = async { Ok(load.await?.sample(point, number)) };
        self.measure(point, measuring).await;
    }

    pub(crate) fn done(&mut self, point: &str, measured: Outcome<Sample>) {
        match measured {
            Ok(sample) => {
                let more = Value::Object(sample.more.clone());
                eprintln!(
                    "  {point}: {:.0}/s, p50 {:.0} µs, p99 {:.0} µs {more}",
                    sample.per_s, sample.p50_us, sample.p99_us
                );
                self.results.samples.push(sample);
            }
            Err(error) => {
                let why = error.to_string();
                eprintln!("  {point}: {why}");
                self.results.failures.push(Failure {
                    point: point.to_owned(),
                    round: self.number,
                    why,
                });
            }
        }
    }
}

/// All rounds and the report. Fails when a point could not be measured or a limit of the issue is not met.
pub(crate) async fn run(plan: &Peers) -> Outcome<ExitCode> {
    let mut results = Results::default();
    for number in 1..=plan.rounds() {
        eprintln!("round {number} of {}", plan.rounds());
        let round = &mut Round {
            plan,
            number,
            results: &mut results,
        };
        let beside = Beside::begin(plan).await?;
        beside.one_jackpot(round).await;
        beside.many_jackpots(round).await;
        beside.without_http(round).await;
        // These run after the other processes have ended.
        drop(beside);
        batches::round(round).await;
        plays::round(round).await;
        coupons::round(round).await;
        Box::pin(events::round(round)).await;
        Box::pin(intake::round(round)).await;
    }
    report::peers(plan, &results)
}

/// Which process a load goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Service,
    Direct,
    Ceiling,
}

/// The processes that a round has beside one another.
struct Beside {
    service: Service,
    direct: Service,
    ceiling: Service,
    bare: BareRedis,
}

impl Beside {
    async fn begin(plan: &Peers) -> Outcome<Self> {
        let place = &plan.place.directory;
        let beside = Self {
            service: Service::product(place, json!({})).await?,
            direct: Service::peer(place, Kind::Direct).await?,
            ceiling: Service::peer(place, Kind::Ceiling).await?,
            bare: BareRedis::start(place).await?,
        };
        for on in [On::Service, On::Direct, On::Ceiling] {
            let (process, route) = beside.of(on);
            if !matches!(on, On::Ceiling) {
                process.define(0, 1).await?;
            }
            wrk::requests(&process.target, route, CLIENTS, 1, WARM_UP).await?;
        }
        Ok(beside)
    }

    async fn one_jackpot(&self, round: &mut Round<'_>) {
        for connections in [64, 512] {
            for (name, on) in [("one", On::Service), ("http", On::Ceiling), ("direct", On::Direct)] {
                let point = format!("{name}-{connections}");
                self.singles(round, &point, on, connections, 1).await;
            }
        }
        for (point, on) in [
            ("lone", On::Service),
            ("lone-http", On::Ceiling),
            ("lone-direct", On::Direct),
        ] {
            self.singles(round, point, on, 1, 1).await;
        }
        for (point, on) in [
            ("paced", On::Service),
            ("paced-http", On::Ceiling),
            ("paced-direct", On::Direct),
        ] {
            let (process, route) = self.of(on);
            let (rate, time) = (round.plan.rate, round.plan.time());
            let load = paced::entries(&process.target, route, rate, 1, CLIENTS, time);
            self.measure(round, point, on, 1, 0, load).await;
        }
    }

    /// The last load with HTTP: after it the processes have more jackpots to look after.
    async fn many_jackpots(&self, round: &mut Round<'_>) {
        let mut defined = Vec::new();
        for (name, on, connections) in [
            ("one", On::Service, 64),
            ("direct", On::Direct, 64),
            ("one", On::Service, 512),
        ] {
            let point = &format!("{name}-{connections}x{MANY_JACKPOTS}");
            if !round.plan.wants(point) {
                continue;
            }
            if !defined.contains(&on) {
                if let Err(error) = self.of(on).0.define(1, MANY_JACKPOTS).await {
                    round.done(point, Err(error));
                    continue;
                }
                defined.push(on);
            }
            self.singles(round, point, on, connections, MANY_JACKPOTS).await;
        }
    }

    async fn without_http(&self, round: &mut Round<'_>) {
        let (bare, plan, time) = (&self.bare, round.plan, round.plan.time());
        round.plain("incr", bare.incr(time)).await;
        round.plain("evalsha", bare.evalsha(time)).await;
        round.plain("lock", lock::contributions(bare, CLIENTS, time)).await;
        round.plain("incr-memory", bare.incr_in_memory(time)).await;
        round.plain("postgres", postgres::entries(plan, time)).await;
    }

    /// wrk ends without its last answers.
    async fn singles(&self, round: &mut Round<'_>, point: &str, on: On, connections: usize, jackpots: usize) {
        let (process, route) = self.of(on);
        let load = wrk::requests(&process.target, route, connections, jackpots, round.plan.time());
        self.measure(round, point, on, jackpots, connections, load).await;
    }

    /// The ceiling has no ledger in which its entries could be counted.
    async fn measure(
        &self,
        round: &mut Round<'_>,
        point: &str,
        on: On,
        jackpots: usize,
        unheard: usize,
        load: impl Future<Output = Outcome<Load>>,
    ) {
        let (number, load) = (round.number, Box::pin(load));
        let (process, _) = self.of(on);
        let measuring = async {
            match on {
                On::Ceiling => Ok(load.await?.sample(point, number)),
                On::Service | On::Direct => process.measure(point, number, jackpots, unheard, load).await,
            }
        };
        round.measure(point, measuring).await;
    }

    fn of(&self, on: On) -> (&Service, &'static str) {
        match on {
            On::Service => (&self.service, ENTRIES),
            On::Direct => (&self.direct, DIRECT),
            On::Ceiling => (&self.ceiling, ENTRIES),
        }
    }
}
