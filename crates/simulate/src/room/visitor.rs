//! One user: joins, waits by polling or listening, is in, and does what its part says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use serde_json::json;
use tokio::time::sleep;

use super::answer::{self, Place, Said, Session, Wait};
use super::call::{Stop, Times, wrong};
use super::crowd::Crowd;
use super::evidence::{Admission, Join, Renewal, Visit};
use super::plan::{Part, User, user_id};
use super::stream::Stream;
use crate::SimulateError;
use crate::client::Answered;
use crate::scenario::Players;

/// From the end of a session, by the clock of this process, to the look for it.
const BEHIND: Duration = Duration::from_millis(200);
/// Between two looks for the end of a session, and before a stream that ended is opened again.
const PAUSE: Duration = Duration::from_millis(100);
/// Looks for the end of a session. The rules judge a session that goes on after them.
const OVERDUE: u32 = 300;

/// Goes the whole way.
pub async fn live(crowd: Arc<Crowd>, user: User) -> Result<Visit, SimulateError> {
    let mut visitor = Visitor {
        visit: Visit::new(user),
        due_us: None,
        crowd,
    };
    let shared = Arc::clone(&visitor.crowd);
    let lived = tokio::select! {
        lived = visitor.live() => lived,
        () = shared.given_up() => Ok(()),
    };
    let Visitor { mut visit, crowd, .. } = visitor;
    match lived {
        Ok(()) => {}
        Err(Stop::Wrong(detail)) => visit.wrong = Some(detail),
        Err(Stop::Failed(error)) => return Err(error),
    }
    crowd.progress.is_gone(user.number < crowd.plan.early());
    Ok(visit)
}

struct Visitor {
    crowd: Arc<Crowd>,
    visit: Visit,
    /// When the last answer asked it to come back.
    due_us: Option<u64>,
}

impl Visitor {
    async fn live(&mut self) -> Result<(), Stop> {
        let mut place = self.join().await?;
        loop {
            place = match place {
                Place::Ended(_) => return Ok(()),
                Place::Admitted(session) => return self.stay(session).await,
                Place::Waiting(wait) => match self.visit.user.part {
                    Part::Abandon if self.crowd.is_open() => return Ok(()),
                    Part::Leave if self.crowd.is_open() => return self.leave().await,
                    _ if self.visit.user.listens => self.listen(wait).await?,
                    _ => self.poll(wait).await?,
                },
            };
        }
    }

    async fn join(&mut self) -> Result<Place, Stop> {
        // Both in flight at once where there are two: on connections of their own.
        let both = async {
            if self.visit.user.twice {
                let (one, other) = tokio::try_join!(self.join_once(), self.join_once())?;
                Ok(vec![one, other])
            } else {
                Ok::<_, SimulateError>(vec![self.join_once().await?])
            }
        };
        let answers = both.await;
        let early = self.visit.user.number < self.crowd.plan.early();
        self.crowd.progress.has_joined(early);
        let mut first = None;
        for (times, answered) in answers? {
            let said = answer::read(&answered.body).map_err(|error| wrong("a join", &error))?;
            self.visit.joins.push(Join {
                sent_us: times.sent_us,
                answered_us: times.answered_us,
                status: answered.status.as_u16(),
                ticket: said.ticket.clone(),
                position: match &said.place {
                    Place::Waiting(wait) => Some(wait.position),
                    _ => None,
                },
            });
            if first.is_none() {
                first = Some(self.observe(said, times)?);
            }
        }
        Ok(first.expect("at least one"))
    }

    async fn join_once(&self) -> Result<(Times, Answered), SimulateError> {
        let body = json!({ "user_id": user_id(self.visit.user.number) });
        self.call(Method::POST, "", Some(body.to_string().into()), |answered| {
            answered.status.is_success()
        })
        .await
    }

    /// Comes back after `poll_after_s`, and looks.
    async fn poll(&mut self, wait: Wait) -> Result<Place, Stop> {
        sleep(Duration::from_secs_f64(wait.poll_after_s)).await;
        self.look().await
    }

    async fn look(&mut self) -> Result<Place, Stop> {
        self.visit.looks += 1;
        self.crowd.progress.looks.fetch_add(1, Ordering::Relaxed);
        self.ask(Method::GET, "a look").await
    }

    /// Listens until an event says that it does not wait any more, or the stream ends.
    async fn listen(&mut self, wait: Wait) -> Result<Place, Stop> {
        let url = self.crowd.url(&format!("/{}/stream", self.ticket()));
        let Some(mut stream) = Stream::open(&self.crowd.listening, &url).await else {
            return self.poll(wait).await;
        };
        while let Some(said) = stream.next().await {
            let said = said.map_err(|error| wrong("an event", &error))?;
            self.visit.events += 1;
            // A listener counts as present.
            self.due_us = None;
            let now_us = self.crowd.course().micros();
            let place = self.observe(said, Times::of(now_us, now_us, false))?;
            if !matches!(place, Place::Waiting(_)) {
                return Ok(place);
            }
        }
        self.due_us = None;
        sleep(PAUSE).await;
        self.look().await
    }

    /// What its part says for the time inside.
    async fn stay(&mut self, session: Session) -> Result<(), Stop> {
        self.crowd.progress.inside.fetch_add(1, Ordering::Relaxed);
        let stayed = self.stay_on(&session).await;
        self.crowd.progress.inside.fetch_sub(1, Ordering::Relaxed);
        stayed
    }

    async fn stay_on(&mut self, session: &Session) -> Result<(), Stop> {
        match self.visit.user.part {
            Part::Visit => sleep(Duration::from_millis(self.visit.user.stay_ms)).await,
            Part::Leave => {}
            Part::Abandon => return Ok(()),
            Part::Renew => {
                sleep(until(session.expires_ms - self.crowd.plan.session_ms() / 2)).await;
                self.renew().await?;
                sleep(until(session.expires_ms) + BEHIND).await;
            }
            Part::Die => {
                sleep(until(session.expires_ms) + BEHIND).await;
                for _ in 0..OVERDUE {
                    if matches!(self.look().await?, Place::Ended(_)) {
                        break;
                    }
                    sleep(PAUSE).await;
                }
                return Ok(());
            }
        }
        self.leave().await
    }

    async fn leave(&mut self) -> Result<(), Stop> {
        let place = self.ask(Method::DELETE, "a leave").await?;
        if matches!(place, Place::Ended(_)) {
            Ok(())
        } else {
            Err(wrong("a leave", &format!("it says {place:?}")))
        }
    }

    async fn renew(&mut self) -> Result<(), Stop> {
        let path = format!("/{}/renew", self.ticket());
        let is_answer = |answered: &Answered| answered.status.is_success() || answer::is_not_admitted(answered);
        let (_, answered) = self.call(Method::POST, &path, None, is_answer).await?;
        if !answered.status.is_success() {
            let is_in = matches!(self.look().await?, Place::Admitted(_));
            self.visit.renewal = Some(Renewal::Refused { is_in });
            return Ok(());
        }
        let said = answer::read(&answered.body).map_err(|error| wrong("a renewal", &error))?;
        match said.place {
            Place::Admitted(session) if *said.ticket == *self.ticket() => {
                self.visit.renewal = Some(Renewal::Longer(session));
            }
            place => return Err(wrong("a renewal", &format!("it says {place:?} of {}", said.ticket))),
        }
        Ok(())
    }

    /// A call about the ticket. Its answer says where the user is.
    async fn ask(&mut self, method: Method, what: &str) -> Result<Place, Stop> {
        let path = format!("/{}", self.ticket());
        let (times, answered) = self
            .call(method, &path, None, |answered| answered.status.is_success())
            .await?;
        let said = answer::read(&answered.body).map_err(|error| wrong(what, &error))?;
        self.observe(said, times)
    }

    fn ticket(&self) -> &str {
        self.visit.ticket().unwrap_or_default()
    }

    /// Calls until there is an answer. On the heap, because all waiting users stay in memory, and few of them call.
    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        is_answer: impl Fn(&Answered) -> bool,
    ) -> Result<(Times, Answered), SimulateError> {
        Box::pin(async move {
            let url = self.crowd.url(path);
            let api = self.crowd.pool.lease().await;
            let sent_us = self.crowd.course().micros();
            let answered = api.call_until(method, &url, body, is_answer).await?;
            let answered_us = self.crowd.course().micros();
            let may_have_been_killed = self.crowd.plan.is_killed && answered.repeats > 0;
            Ok((Times::of(sent_us, answered_us, may_have_been_killed), answered))
        })
        .await
    }

    /// Remembers the answer.
    fn observe(&mut self, said: Said, times: Times) -> Result<Place, Stop> {
        let visit = &mut self.visit;
        if visit.ticket() != Some(&said.ticket) {
            return Err(wrong("an answer", &format!("it is of the ticket {}", said.ticket)));
        }
        if let Some(due_us) = self.due_us.take() {
            visit.late_us = visit.late_us.max(times.back_us.saturating_sub(due_us));
        }
        match &said.place {
            Place::Waiting(wait) => {
                let half_s = f64::from(self.crowd.plan.options.waiting_timeout_s) / 2.0;
                if !(0.0..half_s).contains(&wait.poll_after_s) {
                    return Err(wrong("an answer", &format!("poll_after_s is {}", wait.poll_after_s)));
                }
                let before = visit.position.replace(wait.position);
                if let Some(before) = before.filter(|before| *before < wait.position) {
                    visit.fell_back.get_or_insert((before, wait.position));
                }
                self.due_us = Some(times.answered_us + micros(wait.poll_after_s));
            }
            Place::Admitted(session) => match &visit.admission {
                None => {
                    let session = session.clone();
                    visit.admission = Some(Admission {
                        answered_us: times.answered_us,
                        session,
                    });
                    self.crowd.progress.admitted.fetch_add(1, Ordering::Relaxed);
                }
                Some(known) if known.session.admitted_ms != session.admitted_ms => {
                    let detail = format!(
                        "admitted_at was {}, and is {}",
                        known.session.admitted_ms, session.admitted_ms
                    );
                    return Err(wrong("an answer", &detail));
                }
                Some(_) => {}
            },
            Place::Ended(ended) => visit.ended = Some(*ended),
        }
        Ok(said.place)
    }
}

/// From now to then, in milliseconds since 1970. A private service has the clock of this process, and a given one should
/// have about the same time.
fn until(then_ms: i64) -> Duration {
    let left = then_ms - jiff::Timestamp::now().as_millisecond();
    Duration::from_millis(u64::try_from(left).unwrap_or(0))
}

/// Of seconds below half of a waiting timeout.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and far below 2^53"
)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::Args;
    use crate::client::Target;
    use crate::room::plan::Plan;

    /// A user who joined at the start of the run, and should come back a second later.
    fn visitor() -> Visitor {
        let plan = Arc::new(Plan::new(&Args::parse_from(["simulate", "--room"])));
        let target = Target {
            url: "http://localhost".to_owned(),
            key: "key".to_owned(),
            secret: None,
        };
        let user = plan.user(1);
        let mut visitor = Visitor {
            crowd: Arc::new(Crowd::new(plan, &target, &Arc::default(), None).expect("no service is needed to make it")),
            visit: Visit::new(user),
            due_us: None,
        };
        visitor.visit.joins.push(Join {
            sent_us: 0,
            answered_us: 0,
            status: 201,
            ticket: "t".into(),
            position: Some(9),
        });
        observe(&mut visitor, Times::of(0, 0, false));
        visitor
    }

    fn observe(visitor: &mut Visitor, times: Times) {
        let place = Place::Waiting(Wait {
            position: 9,
            poll_after_s: 1.0,
        });
        let ticket = "t".into();
        assert!(visitor.observe(Said { ticket, place }, times).is_ok());
    }

    #[test]
    fn a_service_that_is_slow_does_not_make_its_user_late_but_a_kill_does() {
        for (may_have_been_killed, late_us) in [(false, 5), (true, 3_000_000)] {
            let mut visitor = visitor();
            observe(&mut visitor, Times::of(1_000_005, 4_000_000, may_have_been_killed));
            assert_eq!(visitor.visit.late_us, late_us);
            assert_eq!(
                visitor.due_us,
                Some(5_000_000),
                "it should come back a second after the answer"
            );
        }
    }
}
