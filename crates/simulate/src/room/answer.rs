//! The state of a ticket, from the answer to a call or from its event stream.

use serde::Deserialize;

use crate::client::Answered;

/// A session, and the pass for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Milliseconds of the service's clock.
    pub admitted_ms: i64,
    pub expires_ms: i64,
    pub pass: Box<str>,
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wait {
    /// From 1.
    pub position: u64,
    pub poll_after_s: f64,
}

/// How a ticket ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    Expired,
    Abandoned,
    Left,
}

/// The end of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// Milliseconds of the service's clock.
    pub at_ms: i64,
}

/// Where a user is.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Waiting(Wait),
    Admitted(Session),
    Ended(Ended),
}

/// An answer about a ticket.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub ticket: Box<str>,
    pub place: Place,
}

#[derive(Deserialize)]
struct Wire {
    ticket: Box<str>,
    status: Box<str>,
    pass: Option<Box<str>>,
    admitted_at: Option<Box<str>>,
    expires_at: Option<Box<str>>,
    ended_at: Option<Box<str>>,
    position: Option<u64>,
    ahead: Option<u64>,
    eta_s: Option<f64>,
    poll_after_s: Option<f64>,
}

/// Reads it. The error says what is wrong with it.
pub fn read(body: &[u8]) -> Result<Said, String> {
    let wire: Wire = serde_json::from_slice(body).map_err(|error| format!("it can't be read: {error}"))?;
    let place = match &*wire.status {
        "admitted" => Place::Admitted(Session {
            admitted_ms: ms("admitted_at", wire.admitted_at.as_deref())?,
            expires_ms: ms("expires_at", wire.expires_at.as_deref())?,
            pass: wire.pass.ok_or("it has no pass")?,
        }),
        "waiting" => {
            let position = wire.position.ok_or("it has no position")?;
            let ahead = wire.ahead.ok_or("it has no ahead")?;
            if position != ahead + 1 {
                return Err(format!("position {position} has {ahead} ahead"));
            }
            if let Some(eta_s) = wire.eta_s.filter(|eta_s| *eta_s < 0.0) {
                return Err(format!("eta_s is {eta_s}"));
            }
            Place::Waiting(Wait {
                position,
                poll_after_s: wire.poll_after_s.ok_or("it has no poll_after_s")?,
            })
        }
        how => {
            let how = serde_json::from_value(how.into()).map_err(|_| format!("its status is {how}"))?;
            let at_ms = ms("ended_at", wire.ended_at.as_deref())?;
            Place::Ended(Ended { how, at_ms })
        }
    };
    Ok(Said {
        ticket: wire.ticket,
        place,
    })
}

/// Whether an answer refuses a renewal because there is no session.
pub fn is_not_admitted(answered: &Answered) -> bool {
    #[derive(Deserialize)]
    struct Problem {
        code: String,
    }
    let problem = serde_json::from_slice::<Problem>(&answered.body);
    answered.status.as_u16() == 409 && problem.is_ok_and(|problem| problem.code == "not-admitted")
}

fn ms(name: &str, text: Option<&str>) -> Result<i64, String> {
    let text = text.ok_or_else(|| format!("it has no {name}"))?;
    let at: jiff::Timestamp = text.parse().map_err(|error| format!("{name} {text}: {error}"))?;
    Ok(at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_value(body: &Value) -> Result<Place, String> {
        read(body.to_string().as_bytes()).map(|said| said.place)
    }

    #[test]
    fn the_documented_answers_are_read() {
        let admitted = json!({"ticket":"t","status":"admitted","pass":"a.b.c","admitted_at":"2026-11-21T06:00:00.123Z",
            "expires_at":"2026-11-21T06:00:06Z"});
        let waiting = json!({"ticket":"t","status":"waiting","position":7,"ahead":6,"eta_s":null,"poll_after_s":1.5});
        assert_eq!(
            read_value(&waiting),
            Ok(Place::Waiting(Wait {
                position: 7,
                poll_after_s: 1.5
            }))
        );
        let Ok(Place::Admitted(session)) = read_value(&admitted) else {
            panic!("{admitted}");
        };
        assert_eq!(
            (session.expires_ms - session.admitted_ms, &*session.pass),
            (5_877, "a.b.c")
        );
        for (status, how) in [
            ("expired", How::Expired),
            ("abandoned", How::Abandoned),
            ("left", How::Left),
        ] {
            let ended = json!({"ticket":"t","status":status,"ended_at":"1970-01-01T00:00:00.005Z"});
            assert_eq!(read_value(&ended), Ok(Place::Ended(Ended { how, at_ms: 5 })));
        }
    }

    #[test]
    fn an_incomplete_answer_is_named() {
        for (body, named) in [
            (json!({"ticket":"t","status":"admitted","pass":"a"}), "admitted_at"),
            (
                json!({"ticket":"t","status":"waiting","position":7,"ahead":7,"poll_after_s":1}),
                "7 ahead",
            ),
            (
                json!({"ticket":"t","status":"waiting","position":7,"ahead":6}),
                "poll_after_s",
            ),
            (
                json!({"ticket":"t","status":"lost","ended_at":"1970-01-01T00:00:00Z"}),
                "lost",
            ),
            (json!({"ticket":"t","status":"left","ended_at":"soon"}), "soon"),
            (json!({"status":"left"}), "ticket"),
        ] {
            let error = read_value(&body).expect_err(named);
            assert!(error.contains(named), "{body}: {error}");
        }
    }
}
