//! Reads of many subjects: pipelines in place of a round trip each, one for each node at a time.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use redis::{Cmd, Pipeline, Value};

use super::connection::Link;
use super::dispatch::{Dispatcher, Request};
use super::error::{Outcome, StoreError, Verdict};
use super::lane::Via;
use super::{Observer, Store};

/// Commands of a pipeline: less than a millisecond of Redis' time, so that other calls do not wait.
const CHUNK: usize = 200;
/// Commands repeated at once, each alone, because their node did not answer them itself.
const ALONE_AT_ONCE: usize = 32;

type Answer = Result<Value, StoreError>;

impl Store {
    /// Runs commands that only read, each with its key in its arguments. The answers are in their order.
    ///
    /// A node that does not answer is asked once: its commands fail without a repeat, and the others have their answers.
    /// An answer is no proof that a replica has what it shows.
    pub async fn read_together(&self, reads: &[Cmd]) -> Vec<Answer> {
        match self.is_open() {
            Ok(()) => {
                self.inner
                    .dispatcher
                    .read_together(reads, self.inner.observer.get())
                    .await
            }
            Err(shut) => vec![Err(shut); reads.len()],
        }
    }
}

impl Store {
    /// The clock of each primary that answers, Unix time in ms, by the node's name.
    pub async fn clocks(&self) -> Vec<(Arc<str>, i64)> {
        if self.is_open().is_err() {
            return Vec::new();
        }
        let nodes = self.inner.dispatcher.topology.primaries();
        let looks = nodes.iter().map(|node| async {
            let time = node.send(&redis::cmd("TIME")).await.ok()?;
            let (seconds, micros): (i64, i64) = redis::from_redis_value(time).ok()?;
            Some((Arc::clone(node.node()), seconds * 1_000 + micros / 1_000))
        });
        join_all(looks).await.into_iter().flatten().collect()
    }
}

impl Dispatcher {
    async fn read_together(&self, reads: &[Cmd], observer: Option<&Observer>) -> Vec<Answer> {
        let mut nodes: Vec<(Arc<Link>, Vec<usize>)> = Vec::new();
        let mut alone = Vec::new();
        for (at, read) in reads.iter().enumerate() {
            let Some(link) = self.topology.pick(Request::Plain(read).key()).0 else {
                alone.push(at);
                continue;
            };
            match nodes.iter_mut().find(|(node, _)| Arc::ptr_eq(node, &link)) {
                Some((_, of_node)) => of_node.push(at),
                None => nodes.push((link, vec![at])),
            }
        }
        let mut answers: Vec<Option<Answer>> = vec![None; reads.len()];
        let by_node = nodes
            .iter()
            .map(|(node, of_node)| read_node(node, reads, of_node, observer));
        for (at, answer) in join_all(by_node).await.into_iter().flatten() {
            match answer {
                // A slot that moved, a server that is loading: what one call knows about that is in one place.
                Ok(Value::ServerError(_)) => alone.push(at),
                other => answers[at] = Some(other),
            }
        }
        if answers.iter().any(|answer| matches!(answer, Some(Err(_)))) {
            let (_, seen) = self.topology.pick(None);
            self.topology.look_again(&seen).await;
        }
        let repeated = stream::iter(alone)
            .map(|at| async move { (at, self.perform(Request::Plain(&reads[at]), Via::Shared).await) });
        let mut repeated = std::pin::pin!(repeated.buffer_unordered(ALONE_AT_ONCE));
        while let Some((at, answer)) = repeated.next().await {
            answers[at] = Some(answer);
        }
        let missing = || {
            Err(StoreError::Unavailable {
                what: "a pipeline".to_owned(),
                cause: "no answer".to_owned(),
            })
        };
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(missing))
            .collect()
    }
}

/// Reads from one node, pipeline after pipeline. After a failure the rest is not asked: a frozen node would cost a
/// time-out for each.
async fn read_node(node: &Link, reads: &[Cmd], of_node: &[usize], observer: Option<&Observer>) -> Vec<(usize, Answer)> {
    let mut answers = Vec::with_capacity(of_node.len());
    let mut failed: Option<StoreError> = None;
    for chunk in of_node.chunks(CHUNK) {
        if let Some(error) = &failed {
            answers.extend(chunk.iter().map(|at| (*at, Err(error.clone()))));
            continue;
        }
        let mut pipeline = Pipeline::with_capacity(chunk.len());
        for at in chunk {
            pipeline.add_command(reads[*at].clone());
        }
        let began_at = Instant::now();
        let read = node.read_all(&pipeline).await;
        if let Some(observer) = observer {
            let outcome = if read.is_ok() {
                Outcome::Ok
            } else {
                Outcome::Unavailable
            };
            observer("command", outcome, began_at.elapsed());
        }
        match read {
            Ok(values) => answers.extend(chunk.iter().copied().zip(values.into_iter().map(Ok))),
            Err(failure) => {
                let error = failure.into_error(&Verdict::Unavailable, "a pipeline");
                answers.extend(chunk.iter().map(|at| (*at, Err(error.clone()))));
                failed = Some(error);
            }
        }
    }
    answers
}
