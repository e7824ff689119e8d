//! Takes one call to its end: attempts until an answer, a final refusal, or the total time limit.
//!
//! A lost reply leaves the outcome unknown. Every script that writes is idempotent by the ids in its arguments, so a
//! retry is always right. Without it the caller would have to retry. A call that was applied, and that only lacks a
//! replica, is not sent again to the same server: only the confirmation is asked for again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use redis::{Cmd, Value};
use tokio::time::{Instant, timeout_at};

use super::connection::{Limits, Link};
use super::error::{Failure, Next, StoreError, Verdict};
use super::lane::Via;
use super::script::{By, Call, Marked, confirmation};
use super::topology::{SeenTopology, Topology};

/// Pause before the first retry, doubled for each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest pause. It is shorter than a failover, so its end is noticed soon.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// Redirections followed at once. After more, two nodes disagree and need time.
const REDIRECTS_AT_ONCE: u32 = 2;

#[derive(Clone, Copy)]
pub(super) enum Request<'a> {
    Script(&'a Call<'a>),
    Plain(&'a Cmd),
}

/// How long WAIT waits at a server without a connected replica, in milliseconds: long enough to reply 0, and too short
/// to delay anything else on its connection.
const WAIT_ALONE_MS: u64 = 1;

/// Sends requests to the right node, and retries.
pub(super) struct Dispatcher {
    pub(super) topology: Topology,
    pub(super) limits: Limits,
    /// `durability = replicated`: how long to wait for a replica, in milliseconds.
    pub(super) wait_ms: Option<u64>,
}

/// The answer of a call that was applied, and that no replica has confirmed.
#[derive(Clone)]
struct Applied {
    answer: Value,
    link: Arc<Link>,
    /// The server's history, if it sent one. The call's effect stays while the server keeps this history.
    history: Option<String>,
}

/// The result of an attempt.
enum Tried {
    /// The call is answered, and durable.
    Done(Value),
    /// It was applied, and no replica confirmed it in time.
    Unconfirmed(Applied),
    /// The server's history has changed since the call was applied: the effect may be lost.
    Lost,
}

/// Where and how the next attempt goes.
struct Aim {
    by: By,
    redirect: Option<(Arc<Link>, bool)>,
    redirects: u32,
    pause: Duration,
}

impl Dispatcher {
    /// Ends within the total limit.
    ///
    /// The usual attempt needs no timer beside that of its connection, because the response limit is at most the total
    /// limit. What may follow is boxed: its futures are large, and every caller's future would hold them.
    pub(super) async fn perform(&self, request: Request<'_>, via: Via) -> Result<Value, StoreError> {
        let begun = Instant::now();
        let (owner, seen) = self.topology.pick(request.key());
        let tried = match &owner {
            Some(link) if self.wait_ms.is_none() => link.send_if_open(via, &request.command()).await,
            _ => None,
        };
        match tried {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(failure)) => {
                let first = Some((owner, seen, failure));
                self.persist(request, via, begun, first).boxed().await
            }
            None => self.persist(request, via, begun, None).boxed().await,
        }
    }

    /// Attempts until the total limit, after the first one if that failed.
    async fn persist(
        &self,
        request: Request<'_>,
        via: Via,
        begun: Instant,
        first: Option<(Option<Arc<Link>>, SeenTopology, Failure)>,
    ) -> Result<Value, StoreError> {
        let deadline = begun + self.limits.total;
        let mut last = None;
        let attempts = self.attempts(request, via, deadline, first, &mut last);
        if let Ok(result) = timeout_at(deadline, attempts).await {
            return result;
        }
        let before = last.map_or_else(String::new, |failure| format!("; before that: {failure}"));
        Err(StoreError::Unavailable {
            what: request.name(),
            cause: format!("no answer within {} ms{before}", self.limits.total.as_millis()),
        })
    }

    async fn attempts(
        &self,
        request: Request<'_>,
        via: Via,
        deadline: Instant,
        first: Option<(Option<Arc<Link>>, SeenTopology, Failure)>,
        last: &mut Option<Failure>,
    ) -> Result<Value, StoreError> {
        let mut aim = Aim {
            by: By::Name,
            redirect: None,
            redirects: 0,
            pause: FIRST_PAUSE,
        };
        if let Some((link, seen, failure)) = first {
            if let Err(verdict) = self.after(&failure, &mut aim, link, false, &seen).await {
                return Err(failure.into_error(&verdict, &request.name()));
            }
            *last = Some(failure);
        }
        let mut applied: Option<Applied> = None;
        loop {
            let (owner, seen) = self.topology.pick(request.key());
            let (link, asking) = match (aim.redirect.take(), owner) {
                (Some((link, asking)), _) => (Some(link), asking),
                (None, owner) => (owner, false),
            };
            let there = applied
                .as_ref()
                .filter(|was| !asking && is_same(link.as_ref(), &was.link));
            let tried = match (&link, there) {
                (None, _) => Err(Failure::NoOwner),
                (Some(_), Some(was)) if request.is_at_once() => return Err(was.unconfirmed(&request)),
                (Some(_), Some(was)) if was.history.is_some() => self.confirm(via, request, was, deadline).await,
                (Some(link), _) => self.attempt(link, via, request, aim.by, asking, deadline).await,
            };
            let failure = match tried {
                Ok(Tried::Done(answer)) => return Ok(answer),
                Ok(Tried::Lost) => {
                    applied = None;
                    continue;
                }
                Ok(Tried::Unconfirmed(was)) => {
                    let node = Arc::clone(was.link.node());
                    applied = Some(was);
                    Failure::NotReplicated { node }
                }
                Err(failure) => failure,
            };
            if let Err(verdict) = self.after(&failure, &mut aim, link, asking, &seen).await {
                return Err(failure.into_error(&verdict, &request.name()));
            }
            *last = Some(failure);
        }
    }

    /// Prepares the next attempt, or returns why there is none.
    async fn after(
        &self,
        failure: &Failure,
        aim: &mut Aim,
        link: Option<Arc<Link>>,
        asking: bool,
        seen: &SeenTopology,
    ) -> Result<(), Verdict> {
        match (failure.next(), link) {
            (Next::GiveUp(verdict), _) => return Err(verdict),
            // To the same node: the script is missing only there, and only it can answer.
            (Next::Load, Some(link)) if aim.by != By::Source => {
                aim.by = if aim.by == By::Name { By::Load } else { By::Source };
                aim.redirect = Some((link, asking));
            }
            (Next::Load, _) => return Err(Verdict::Script),
            (Next::Redirect { to, asking }, Some(link)) => {
                let named = self
                    .topology
                    .named(&link, &to)
                    .and_then(Result::ok)
                    .ok_or(Verdict::Unavailable)?;
                aim.redirects += 1;
                if aim.redirects > REDIRECTS_AT_ONCE {
                    aim.wait().await;
                }
                if !asking {
                    self.topology.look_again(seen).await;
                }
                aim.redirect = Some((named, asking));
            }
            (Next::Repeat, _) => aim.wait().await,
            (Next::LookAgain | Next::Reconnect | Next::Redirect { .. }, _) => {
                aim.wait().await;
                self.topology.look_again(seen).await;
            }
        }
        Ok(())
    }

    async fn attempt(
        &self,
        link: &Arc<Link>,
        via: Via,
        request: Request<'_>,
        by: By,
        asking: bool,
        deadline: Instant,
    ) -> Result<Tried, Failure> {
        let mut pipeline = match (request, self.wait_ms) {
            (Request::Script(call), None) if !asking && by == By::Load => {
                let answer = link.send_behind(via, &call.script().load(), &call.command(by)).await;
                return answer.map(Tried::Done);
            }
            (Request::Script(call), None) if !asking => {
                return link.send_via(via, &call.command(by)).await.map(Tried::Done);
            }
            (Request::Plain(command), _) if !asking => return link.send_via(via, command).await.map(Tried::Done),
            (Request::Script(call), Some(wait_ms)) => call.replicated(by, wait_at(link, wait_ms, deadline)),
            (Request::Script(call), None) => only(&call.command(by)),
            (Request::Plain(command), _) => only(command),
        };
        let loads = match request {
            Request::Script(call) if by == By::Load => Some(call.script().load()),
            _ => None,
        };
        if let Some(load) = &loads {
            pipeline = behind(load, &pipeline);
        }
        if asking {
            pipeline = permitted(&pipeline);
        }
        let mut answers = link.send_all(via, request.key(), &pipeline).await?;
        if asking {
            answers = without_permissions(answers);
        }
        if loads.is_some() {
            answers = answers.split_off(answers.len().min(1)); // whether it was loaded shows in the answer of the call
        }
        let (replicas, marker) = match (request, self.wait_ms) {
            (Request::Script(call), Some(_)) => (answers.pop(), call.first_key().and_then(|_| answers.pop())),
            _ => (None, None),
        };
        let answer = answers.into_iter().next().unwrap_or(Value::Nil);
        let answer = answer.extract_error().map_err(|source| link.failure(source))?;
        let Some(replicas) = replicas else {
            return Ok(Tried::Done(answer));
        };
        // Without its marker, WAIT may answer for a connection that has written nothing.
        let was_written = marker
            .as_ref()
            .is_none_or(|marker| !matches!(marker, Value::ServerError(_)));
        let said = marker.as_ref().and_then(Marked::read);
        if is_enough(link, replicas, said.as_ref())? && was_written {
            return Ok(Tried::Done(answer));
        }
        Ok(Tried::Unconfirmed(Applied {
            answer,
            link: Arc::clone(link),
            // The slot is moving to this node. Later calls still go to its current node.
            history: said.filter(|_| !asking).map(|said| said.history),
        }))
    }

    /// Asks again whether a replica has the applied call, which is not sent again.
    async fn confirm(
        &self,
        via: Via,
        request: Request<'_>,
        was: &Applied,
        deadline: Instant,
    ) -> Result<Tried, Failure> {
        let (Request::Script(call), Some(wait_ms)) = (request, self.wait_ms) else {
            return Ok(Tried::Lost);
        };
        let link = Arc::clone(&was.link);
        let pipeline = confirmation(call.first_key().unwrap_or_default(), wait_at(&link, wait_ms, deadline));
        let mut answers = link.send_all(via, request.key(), &pipeline).await?;
        let replicas = answers.pop().unwrap_or(Value::Nil);
        let marker = answers.pop().unwrap_or(Value::Nil);
        let said = Marked::read(&marker.extract_error().map_err(|source| link.failure(source))?);
        if said.as_ref().map(|said| &said.history) != was.history.as_ref() {
            return Ok(Tried::Lost);
        }
        Ok(if is_enough(&link, replicas, said.as_ref())? {
            Tried::Done(was.answer.clone())
        } else {
            Tried::Unconfirmed(was.clone())
        })
    }
}

/// Whether one replica has the write, by WAIT. Remembers whether any replica is connected.
fn is_enough(link: &Link, replicas: Value, said: Option<&Marked>) -> Result<bool, Failure> {
    if let Some(said) = said {
        link.set_alone(said.replicas == 0);
    }
    match replicas.extract_error().map_err(|source| link.failure(source))? {
        Value::Int(count) => Ok(count >= 1),
        _ => Ok(false),
    }
}

/// How long WAIT waits: at most as long as the call itself, because it delays what comes after it on its connection.
fn wait_at(link: &Link, wait_ms: u64, deadline: Instant) -> u64 {
    if link.is_alone() {
        return WAIT_ALONE_MS;
    }
    let left = deadline.saturating_duration_since(Instant::now()).as_millis();
    wait_ms.min(u64::try_from(left).unwrap_or(wait_ms)).max(WAIT_ALONE_MS)
}

fn is_same(link: Option<&Arc<Link>>, other: &Arc<Link>) -> bool {
    link.is_some_and(|link| Arc::ptr_eq(link, other))
}

impl Applied {
    fn unconfirmed(&self, request: &Request<'_>) -> StoreError {
        StoreError::Unconfirmed {
            what: request.name(),
            node: self.link.node().to_string(),
        }
    }
}

impl Aim {
    async fn wait(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

impl Request<'_> {
    fn is_at_once(&self) -> bool {
        matches!(self, Self::Script(call) if call.is_at_once())
    }

    /// The command of the usual attempt.
    fn command(&self) -> Cow<'_, Cmd> {
        match self {
            Self::Script(call) => call.command(By::Name),
            Self::Plain(command) => Cow::Borrowed(command),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Script(call) => call.script().name().to_owned(),
            Self::Plain(command) => command_name(command),
        }
    }

    /// The key that decides the slot. All our keys have a hash tag. So in a plain command the first argument with one
    /// is a key, at any position (`XREAD STREAMS key`).
    pub(super) fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Script(call) => call.first_key().map(str::as_bytes),
            Self::Plain(command) => {
                let arguments = || {
                    command.args_iter().skip(1).filter_map(|arg| match arg {
                        redis::Arg::Simple(bytes) => Some(bytes),
                        _ => None,
                    })
                };
                arguments()
                    .find(|bytes| bytes.contains(&b'{'))
                    .or_else(|| arguments().next())
            }
        }
    }
}

fn command_name(command: &Cmd) -> String {
    match command.args_iter().next() {
        Some(redis::Arg::Simple(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => String::from("command"),
    }
}

fn only(command: &Cmd) -> redis::Pipeline {
    let mut pipeline = redis::Pipeline::with_capacity(1);
    pipeline.add_command(command.clone());
    pipeline
}

/// The commands with this one in front.
fn behind(first: &Cmd, pipeline: &redis::Pipeline) -> redis::Pipeline {
    let mut all = redis::Pipeline::with_capacity(pipeline.len() + 1);
    all.add_command(first.clone());
    for command in pipeline.cmd_iter() {
        all.add_command(command.clone());
    }
    all
}

/// ASKING permits the one command after it for a slot that is moving to the node.
fn permitted(pipeline: &redis::Pipeline) -> redis::Pipeline {
    let mut permitted = redis::Pipeline::with_capacity(pipeline.len() * 2);
    for command in pipeline.cmd_iter() {
        permitted.cmd("ASKING").add_command(command.clone());
    }
    permitted
}

/// The answers to the result of [`permitted`], without the answer to ASKING before each.
fn without_permissions(answers: Vec<Value>) -> Vec<Value> {
    answers.into_iter().skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_under_ask_is_the_one_behind_its_permission() {
        let mut pipeline = redis::Pipeline::new();
        pipeline.cmd("FCALL").cmd("EVAL").cmd("WAIT");
        assert_eq!(permitted(&pipeline).len(), 6);
        let answers = [
            Value::Okay,
            Value::Int(7),
            Value::Okay,
            Value::Nil,
            Value::Okay,
            Value::Int(1),
        ];
        assert_eq!(
            without_permissions(answers.to_vec()),
            [Value::Int(7), Value::Nil, Value::Int(1)],
            "the script's, the marker's and WAIT's"
        );
    }
}
