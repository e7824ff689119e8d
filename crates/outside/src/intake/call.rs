//! One message: the call of the API in this process, tried until its answer is final, and the answer or dead letter that goes
//! out for it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_http::Payload;
use actix_web::http::Method;
use actix_web::http::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tracing::{error, info, warn};

use super::letter::{MOST_CUTS, Origin, Place, dead_letter, reply};
use super::message::{self, Kind, Request, Unreadable};
use crate::broker::{Broker, BrokerError, Message, Record};
use jackpot_kernel::http::auth::{Caller, Role};
use jackpot_kernel::http::inside::{ApiCall, Finality, Inside, Whole};
use jackpot_kernel::http::problem::{FieldError, Problem};
use jackpot_kernel::http::shape;
use jackpot_kernel::keys::KeyStore;
use jackpot_kernel::random;
use jackpot_kernel::telemetry::{MessageResult, Metrics};

const PASS: HeaderName = HeaderName::from_static("x-room-pass");

/// The first wait after a failure. It doubles with each one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait. A try is a call in this process, and a stop or a limit ends at any time.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Between two lines about other causes.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// What the calls of an instance share.
pub(super) struct Calls {
    pub inside: Inside,
    pub keys: Arc<KeyStore>,
    /// Name of the key that messages count as.
    pub key: String,
    pub broker: Arc<Broker>,
    pub reply_topic: Option<String>,
    pub dead_letter_topic: String,
    pub metrics: Arc<Metrics>,
    /// Why messages wait, as it was logged last, and when.
    pub logged: RefCell<Option<(Instant, String)>>,
}

impl Calls {
    /// Ends when the effect of the message is durable, and what goes out for it too. `may_repeat`: an instance
    /// that died may have taken it, longer ago than the ids of entries are remembered.
    pub(super) async fn take(&self, place: &Place, record: &Record, may_repeat: bool) {
        let of = |cuts| Origin { place, record, cuts };
        let dead = async |problem: &Value| {
            self.send_cut(&self.dead_letter_topic, |cuts| dead_letter(of(cuts), problem))
                .await;
        };
        let parsed = match record.wrong_headers {
            Some(rule) => Err(Unreadable::Member("headers".to_owned(), rule.to_owned())),
            None => message::parse(&record.content),
        };
        let request = match parsed {
            Ok(request) => request,
            Err(unreadable) => {
                dead(&shown(&problem_of(unreadable))).await;
                self.metrics.intake.done(MessageResult::Unreadable);
                return;
            }
        };
        // The records of a coupon outlast it, so a repeat of an issue is known.
        if may_repeat && request.kind == Kind::Entry {
            dead(&repeat_too_late()).await;
            self.metrics.intake.done(MessageResult::Refused);
            return;
        }
        let answer = self.answer(&request, record).await;
        if answer.finality == Finality::Done {
            if let Some(topic) = &self.reply_topic {
                let reply = |cuts| reply(of(cuts), &request, answer.status, &answer.body);
                self.send_cut(topic, reply).await;
            }
            self.metrics.intake.done(MessageResult::Taken);
        } else {
            let problem = serde_json::from_slice(&answer.body).unwrap_or_else(|_| json!({"status": answer.status}));
            dead(&problem).await;
            self.metrics.intake.done(MessageResult::Refused);
        }
    }

    /// The final answer.
    async fn answer(&self, request: &Request, record: &Record) -> Whole {
        let mut retry = Retry::new(self);
        loop {
            let cause = match self.call(request, record).await {
                Ok(answer) if answer.finality != Finality::MayPass => return answer,
                Ok(answer) => format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)),
                Err(cause) => cause,
            };
            retry.wait(&cause).await;
        }
    }

    async fn call(&self, request: &Request, record: &Record) -> Result<Whole, String> {
        let caller = self.caller()?;
        let pass = record.pass.as_deref().map(|pass| {
            // A header that is not text is an invalid pass, not a missing one.
            (
                PASS,
                HeaderValue::from_str(pass).unwrap_or(HeaderValue::from_static("")),
            )
        });
        let call = ApiCall {
            method: Method::POST,
            path: &request.path(),
            caller: Some(&caller),
            content: Payload::from(request.body.clone()),
            headers: pass.into_iter().collect(),
        };
        let answer = self.inside.call(call).await.map_err(|problem| problem.to_string())?;
        Whole::read(answer).await.map_err(|error| error.to_string())
    }

    /// The key is looked for at each call: it may be revoked, or made again.
    fn caller(&self) -> Result<Caller, String> {
        let name = &self.key;
        let known = self.keys.called(name);
        let known = known.ok_or_else(|| format!("setting intake.key: there is no valid API key named {name}"))?;
        let caller = Caller::of_session(known);
        if caller.role().allows(Role::Play) {
            return Ok(caller);
        }
        Err(format!(
            "setting intake.key: the API key {name} has the role {}, and messages need play",
            caller.role()
        ))
    }

    /// Sends as much as the broker takes: one message that it never takes must not hold up its lane.
    async fn send_cut(&self, topic: &str, message: impl Fn(u32) -> Message) {
        let mut cuts = 0;
        while let Err(error) = self.send(topic, message(cuts)).await {
            if cuts == MOST_CUTS {
                self.metrics.intake.gaps.inc();
                let id = message(cuts).id;
                return error!(topic, id, %error, "the broker takes not even the shortest answer to a message: it has none");
            }
            cuts += 1;
        }
    }

    /// Sends until it is on the broker's disk, unless it is too large for that.
    async fn send(&self, topic: &str, message: Message) -> Result<(), BrokerError> {
        let mut retry = Retry::new(self);
        while let Some(error) = self.broker.send(topic, std::slice::from_ref(&message)).await.stopped {
            if error.is_too_large {
                return Err(error);
            }
            retry.wait(&format!("{topic}: {error}")).await;
        }
        Ok(())
    }
}

pub(super) fn problem_of(unreadable: Unreadable) -> Problem {
    match unreadable {
        Unreadable::Json(rule) => Problem::invalid_json(format!("the message {rule}")),
        Unreadable::Member(name, rule) => Problem::invalid_request(vec![FieldError::new(shape::cut(&name), rule)]),
    }
}

pub(super) fn shown(problem: &Problem) -> Value {
    json!(problem.body())
}

/// A problem that HTTP does not have: there the client knows whether it repeats.
fn repeat_too_late() -> Value {
    json!({
        "title": "It may have been taken before",
        "code": "repeat-too-late",
        "detail": "An instance may have taken it before it died, longer than fairness.retention_s ago: a repeat is not known \
                   any more. If the ledger does not have the entry, send it again with another id.",
    })
}

/// The tries of one message. While it waits it counts as one that does.
struct Retry<'a> {
    calls: &'a Calls,
    next: Duration,
    waits: bool,
}

impl<'a> Retry<'a> {
    fn new(calls: &'a Calls) -> Self {
        Self {
            calls,
            next: FIRST_WAIT,
            waits: false,
        }
    }

    async fn wait(&mut self, cause: &str) {
        let metrics = &self.calls.metrics.intake;
        metrics.retries.inc();
        if !std::mem::replace(&mut self.waits, true) {
            metrics.retrying.inc();
        }
        self.calls.log(cause);
        let wait = self.next;
        self.next = (wait * 2).min(LONGEST_WAIT);
        // Jitter of up to a quarter, so that messages that failed together do not all come back together.
        let jitter = random::bytes::<1>().map_or(0, |[byte]| u32::from(byte));
        tokio::time::sleep(wait + wait * jitter / 1_024).await;
    }
}

impl Drop for Retry<'_> {
    fn drop(&mut self) {
        if self.waits && self.calls.metrics.intake.retrying.dec() == 1 {
            self.calls.logged.take();
            info!("no message of the broker waits for another try");
        }
    }
}

impl Calls {
    /// A line for each cause, and not for each message: many wait for the same one.
    fn log(&self, cause: &str) {
        let mut logged = self.logged.borrow_mut();
        let is_known = logged
            .as_ref()
            .is_some_and(|(at, last)| last == cause || at.elapsed() < BETWEEN_LINES);
        if !is_known {
            warn!(cause, "messages of the broker wait for another try");
            *logged = Some((Instant::now(), cause.to_owned()));
        }
    }
}
