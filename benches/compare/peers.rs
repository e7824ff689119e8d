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

impl Results {
    fn done(&mut self, round: usize, point: &str, measured: Outcome<Sample>) {
        match measured {
            Ok(sample) => {
                let more = Value::Object(sample.more.clone());
                eprintln!(
                    "  {point}: {:.0}/s, p50 {:.0} µs, p99 {:.0} µs {more}",
                    sample.per_s, sample.p50_us, sample.p99_us
                );
                self.samples.push(sample);
            }
            Err(error) => {
                let why = error.to_string();
                eprintln!("  {point}: {why}");
                let point = point.to_owned();
                self.failures.push(Failure { point, round, why });
            }
        }
    }
}

/// All rounds and the report. Fails when a point could not be measured or a limit of the issue is not met.
pub(crate) async fn run(plan: &Peers) -> Outcome<ExitCode> {
    let mut results = Results::default();
    for number in 1..=plan.rounds() {
        eprintln!("round {number} of {}", plan.rounds());
        let mut round = Round::begin(plan, number, &mut results).await?;
        round.one_jackpot().await;
        round.many_jackpots().await;
        round.without_http().await;
        // These run after the other processes have ended.
        drop(round);
        for (point, measured) in batches::round(plan, number).await {
            results.done(number, &point, measured);
        }
        for (point, measured) in plays::round(plan, number).await {
            results.done(number, point, measured);
        }
        for (point, measured) in coupons::round(plan, number).await {
            results.done(number, point, measured);
        }
        for (point, measured) in Box::pin(events::round(plan, number)).await {
            results.done(number, point, measured);
        }
        for (point, measured) in Box::pin(intake::round(plan, number)).await {
            results.done(number, point, measured);
        }
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

struct Round<'r> {
    plan: &'r Peers,
    number: usize,
    results: &'r mut Results,
    service: Service,
    direct: Service,
    ceiling: Service,
    bare: BareRedis,
}

impl<'r> Round<'r> {
    async fn begin(plan: &'r Peers, number: usize, results: &'r mut Results) -> Outcome<Self> {
        let place = &plan.place.directory;
        let round = Self {
            plan,
            number,
            results,
            service: Service::product(place, json!({})).await?,
            direct: Service::peer(place, Kind::Direct).await?,
            ceiling: Service::peer(place, Kind::Ceiling).await?,
            bare: BareRedis::start(place).await?,
        };
        for on in [On::Service, On::Direct, On::Ceiling] {
            let (process, route) = round.of(on);
            if !matches!(on, On::Ceiling) {
                process.define(0, 1).await?;
            }
            wrk::requests(&process.target, route, CLIENTS, 1, WARM_UP).await?;
        }
        Ok(round)
    }

    async fn one_jackpot(&mut self) {
        for connections in [64, 512] {
            for (name, on) in [("one", On::Service), ("http", On::Ceiling), ("direct", On::Direct)] {
                self.singles(&format!("{name}-{connections}"), on, connections, 1).await;
            }
        }
        for (point, on) in [
            ("lone", On::Service),
            ("lone-http", On::Ceiling),
            ("lone-direct", On::Direct),
        ] {
            self.singles(point, on, 1, 1).await;
        }
        for (point, on) in [
            ("paced", On::Service),
            ("paced-http", On::Ceiling),
            ("paced-direct", On::Direct),
        ] {
            self.paced(point, on).await;
        }
    }

    /// The last load with HTTP: after it the processes have more jackpots to look after.
    async fn many_jackpots(&mut self) {
        let mut defined = Vec::new();
        for (name, on, connections) in [
            ("one", On::Service, 64),
            ("direct", On::Direct, 64),
            ("one", On::Service, 512),
        ] {
            let point = &format!("{name}-{connections}x{MANY_JACKPOTS}");
            if !self.plan.wants(point) {
                continue;
            }
            if !defined.contains(&on) {
                if let Err(error) = self.of(on).0.define(1, MANY_JACKPOTS).await {
                    self.done(point, Err(error));
                    continue;
                }
                defined.push(on);
            }
            self.singles(point, on, connections, MANY_JACKPOTS).await;
        }
    }

    async fn without_http(&mut self) {
        let time = self.plan.time();
        if self.plan.wants("incr") {
            let load = self.bare.incr(time).await;
            self.plain("incr", load.map(Some));
        }
        if self.plan.wants("evalsha") {
            let load = self.bare.evalsha(time).await;
            self.plain("evalsha", load.map(Some));
        }
        if self.plan.wants("lock") {
            let load = lock::contributions(&self.bare, CLIENTS, time).await;
            self.plain("lock", load.map(Some));
        }
        if self.plan.wants("incr-memory") {
            let load = self.bare.incr_in_memory(time).await;
            self.plain("incr-memory", load.map(Some));
        }
        if self.plan.wants("postgres") {
            let load = postgres::entries(self.plan, time).await;
            self.plain("postgres", load);
        }
    }

    async fn singles(&mut self, point: &str, on: On, connections: usize, jackpots: usize) {
        if !self.plan.wants(point) {
            return;
        }
        let measured = self.try_singles(point, on, connections, jackpots).await;
        self.done(point, measured);
    }

    async fn try_singles(&self, point: &str, on: On, connections: usize, jackpots: usize) -> Outcome<Sample> {
        let (process, route) = self.of(on);
        let time = self.plan.time();
        if matches!(on, On::Ceiling) {
            let load = wrk::requests(&process.target, route, connections, jackpots, time).await?;
            return Ok(load.sample(point, self.number));
        }
        let before = process.before(jackpots).await?;
        let load = wrk::requests(&process.target, route, connections, jackpots, time).await?;
        let mut sample = load.sample(point, self.number);
        // wrk ends without its last answers.
        process.settle(&before, load.entries, connections, &mut sample).await?;
        Ok(sample)
    }

    async fn paced(&mut self, point: &str, on: On) {
        if !self.plan.wants(point) {
            return;
        }
        let measured = self.try_paced(point, on).await;
        self.done(point, measured);
    }

    async fn try_paced(&self, point: &str, on: On) -> Outcome<Sample> {
        let (process, route) = self.of(on);
        let (target, rate, time) = (&process.target, self.plan.rate, self.plan.time());
        if matches!(on, On::Ceiling) {
            let load = paced::entries(target, route, rate, 1, CLIENTS, time).await?;
            return Ok(load.sample(point, self.number));
        }
        let before = process.before(1).await?;
        let load = paced::entries(target, route, rate, 1, CLIENTS, time).await?;
        let mut sample = load.sample(point, self.number);
        process.settle(&before, load.entries, 0, &mut sample).await?;
        Ok(sample)
    }

    fn of(&self, on: On) -> (&Service, &'static str) {
        match on {
            On::Service => (&self.service, ENTRIES),
            On::Direct => (&self.direct, DIRECT),
            On::Ceiling => (&self.ceiling, ENTRIES),
        }
    }

    fn plain(&mut self, point: &str, load: Outcome<Option<Load>>) {
        match load {
            Ok(Some(load)) => self.done(point, Ok(load.sample(point, self.number))),
            Ok(None) => self.done(point, Err("left out: no server was given".into())),
            Err(error) => self.done(point, Err(error)),
        }
    }

    fn done(&mut self, point: &str, measured: Outcome<Sample>) {
        self.results.done(self.number, point, measured);
    }
}
