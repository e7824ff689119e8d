//! A subscriber of the run: it subscribes to all events of some subjects, and says after the run what it got of them.

mod got;
mod receiver;

pub use got::{Got, Subject};
#[cfg(test)]
pub use got::{Paid, Taken};
pub use receiver::Receiver;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::SimulateError;
use crate::client::Api;

/// Most subjects of one subscription.
const MOST_SUBJECTS: usize = 100;
/// The wait for events ends when none came for this time: longer than the pauses between tries after some kills.
const STILL: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(50);

/// A subscription with its receiver.
#[derive(Debug)]
pub struct Subscriber {
    pub receiver: Receiver,
    path: String,
}

/// What a subscriber got, after the run; or why there was none.
pub type Delivered = Result<Read, String>;

/// What it got, and what the service shows of it.
#[derive(Debug, Clone, Default)]
pub struct Read {
    pub got: Got,
    /// Number of the last event in the ledger, by subject.
    pub heads: BTreeMap<String, u64>,
    /// Events that were not delivered when the last play was answered.
    pub lag: u64,
    /// From then until the last event came.
    pub caught_up_ms: u64,
    /// How often the receiver was killed.
    pub kills: u32,
    /// What the service says of a try that failed, if the last one did.
    pub last_error: Option<String>,
}

impl Subscriber {
    /// Subscribes to all events of these subjects, from their begin on. The outer error ends the run; the inner one says why a
    /// given service has no subscriber. A private service must have one.
    pub async fn open(
        api: &Api,
        seed: u64,
        subjects: &[String],
        is_private: bool,
    ) -> Result<Result<Self, String>, SimulateError> {
        if subjects.len() > MOST_SUBJECTS {
            let count = subjects.len();
            return Ok(Err(format!(
                "a subscription names at most {MOST_SUBJECTS} subjects, and there are {count}"
            )));
        }
        let path = format!("/v1/subscriptions/simulation-s{seed}");
        let known = api.send_once(Method::GET, &api.url(&path), None).await;
        if known.is_ok_and(|answer| answer.status.is_success()) {
            let rule = "exists already, of another run with this seed: delete it, or choose another --seed";
            return Ok(Err(format!("{path} {rule}")));
        }
        let receiver = Receiver::start().await?;
        let body = json!({"target": {"webhook": {"url": receiver.url()}}, "types": ["*"], "subjects": subjects,
            "from": "beginning"});
        let made = match api.send(Method::PUT, &path, &body).await {
            Ok(made) => made.json::<Value>(&path)?,
            // For instance its settings refuse a target on this machine, or the key may name none of its own.
            Err(refused @ SimulateError::Refused { .. }) if !is_private => return Ok(Err(refused.to_string())),
            Err(error) => return Err(error),
        };
        let key = made["verification_key"].as_str().unwrap_or_default();
        let set = receiver.set_key(key);
        set.map_err(|detail| SimulateError::unreadable(&path, detail))?;
        let subscriber = Self { receiver, path };
        let reached = subscriber.probe(api).await?;
        if let Err(why) = reached {
            subscriber.delete(api).await?;
            if is_private {
                return Err(SimulateError::Subscriber(why));
            }
            return Ok(Err(why));
        }
        Ok(Ok(subscriber))
    }

    /// Whether the service reaches the receiver; else why not.
    async fn probe(&self, api: &Api) -> Result<Result<(), String>, SimulateError> {
        let path = format!("{}/test", self.path);
        let probed: Value = api.send(Method::POST, &path, &Value::Null).await?.json(&path)?;
        if probed["delivered"] == true {
            return Ok(Ok(()));
        }
        let (url, error) = (self.receiver.url(), &probed["error"]);
        Ok(Err(format!(
            "the service does not reach the subscriber at {url}: {error}"
        )))
    }

    /// Waits until all events were delivered, or none came for a while. `has_all`: whether everything has come that the
    /// players know of. `heads`: for each subject, where the API shows the head of its ledger. Then deletes the subscription.
    pub async fn close(
        &self,
        api: &Api,
        heads: &[(String, String)],
        has_all: impl Fn(&Got) -> bool,
    ) -> Result<Read, SimulateError> {
        let begun = Instant::now();
        let lag = lag(&self.shown(api).await?);
        self.wait(|| has_all(&self.receiver.got())).await;
        // The ledger has now what was played. It may go on with events of its own.
        let mut numbers = BTreeMap::new();
        for (subject, path) in heads {
            let head: Value = api.get(path).await?;
            numbers.insert(subject.clone(), head["n"].as_u64().unwrap_or_default());
        }
        self.wait(|| {
            let got = self.receiver.got();
            let last = |subject: &String| got.subjects.get(subject).and_then(|of| of.places.last());
            numbers
                .iter()
                .all(|(subject, n)| last(subject).is_some_and(|(last, _)| last >= n))
        })
        .await;
        let caught_up_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        // An event of the ledger has several parts, of which the last ones may be on their way.
        let shown = self.delivered(api, &numbers).await?;
        self.delete(api).await?;
        Ok(Read {
            got: std::mem::take(&mut *self.receiver.got()),
            heads: numbers,
            lag,
            caught_up_ms,
            kills: self.receiver.kills(),
            last_error: last_error(&shown),
        })
    }

    /// Waits until it is so, or nothing came for a while.
    async fn wait(&self, is_it: impl Fn() -> bool) {
        let (mut seen, mut since) = (0, Instant::now());
        while !is_it() && since.elapsed() < STILL {
            let now = self.receiver.got().delivered();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until the service counts these events as delivered, or for a while.
    async fn delivered(&self, api: &Api, heads: &BTreeMap<String, u64>) -> Result<Value, SimulateError> {
        let begun = Instant::now();
        loop {
            let shown = self.shown(api).await?;
            let is_there = |subject: &String, n: u64| {
                let mut of = streams(&shown).filter(|stream| stream["subject"] == subject.as_str());
                of.any(|stream| stream["delivered_n"].as_u64() >= Some(n))
            };
            if heads.iter().all(|(subject, n)| is_there(subject, *n)) || begun.elapsed() > STILL {
                return Ok(shown);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn shown(&self, api: &Api) -> Result<Value, SimulateError> {
        api.get(&self.path).await
    }

    async fn delete(&self, api: &Api) -> Result<(), SimulateError> {
        let is_gone = |answer: &crate::client::Answered| answer.status.is_success() || answer.status == 404;
        api.call_until(Method::DELETE, &api.url(&self.path), None, is_gone)
            .await?;
        Ok(())
    }
}

fn streams(shown: &Value) -> impl Iterator<Item = &Value> {
    shown["streams"].as_array().into_iter().flatten()
}

fn lag(shown: &Value) -> u64 {
    streams(shown).filter_map(|stream| stream["lag"].as_u64()).sum()
}

fn last_error(shown: &Value) -> Option<String> {
    streams(shown).find_map(|stream| stream["last_error"].as_str().map(str::to_owned))
}
