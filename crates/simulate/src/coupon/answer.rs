//! The outcome of a request, from the answer to its call or from a look-up.

use reqwest::StatusCode;
use serde::Deserialize;

use super::plan::{Ask, Plan, user_id};
use crate::client::Answered;

/// A unit as it was issued.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Unit {
    pub sequence: u64,
    pub code: String,
    pub issued_at: String,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Issued(Unit),
    /// Issued, and taken back since.
    Voided(Unit),
    /// Refused, because the user has this unit of this request.
    AlreadyIssued {
        request_id: String,
        user_id: String,
        unit: Unit,
    },
    OutOfStock,
    /// Before the start or after the end of the coupon.
    NotOpen,
    /// Not yet decided.
    Queued,
    /// A dead letter of the queue.
    Dead,
}

/// An outcome without what is special about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Issued,
    AlreadyIssued,
    OutOfStock,
    Other,
}

impl Outcome {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Issued(_) | Self::Voided(_) => Kind::Issued,
            Self::AlreadyIssued { .. } => Kind::AlreadyIssued,
            Self::OutOfStock => Kind::OutOfStock,
            Self::NotOpen | Self::Queued | Self::Dead => Kind::Other,
        }
    }

    /// The unit that it was given.
    pub fn unit(&self) -> Option<&Unit> {
        match self {
            Self::Issued(unit) | Self::Voided(unit) => Some(unit),
            _ => None,
        }
    }

    /// Whether both say the same of a request that may have been taken back between them.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.unit(), other.unit()) {
            (Some(one), Some(other)) => one == other,
            _ => self == other,
        }
    }
}

#[derive(Deserialize)]
struct Wire {
    result: Option<String>,
    /// Of the unit; of a problem its own.
    code: Option<String>,
    request_id: Option<String>,
    user_id: Option<String>,
    sequence: Option<u64>,
    issued_at: Option<String>,
    queued_at: Option<String>,
    decided_at: Option<String>,
    issue: Option<Box<Wire>>,
}

impl Wire {
    fn unit(self) -> Result<Unit, String> {
        match (self.sequence, self.code, self.issued_at) {
            (Some(sequence), Some(code), Some(issued_at)) => Ok(Unit {
                sequence,
                code,
                issued_at,
            }),
            _ => Err("an issued unit lacks sequence, code or issued_at".to_owned()),
        }
    }

    fn outcome(self, result: &str) -> Result<Outcome, String> {
        Ok(match result {
            "issued" => Outcome::Issued(self.unit()?),
            "voided" => Outcome::Voided(self.unit()?),
            "already-issued" => {
                let issue = self.issue.ok_or("already-issued names no issue")?;
                let (request_id, user_id) = (issue.request_id.clone(), issue.user_id.clone());
                Outcome::AlreadyIssued {
                    request_id: request_id.ok_or("already-issued names no request")?,
                    user_id: user_id.ok_or("already-issued names no user")?,
                    unit: issue.unit()?,
                }
            }
            "out-of-stock" => Outcome::OutOfStock,
            "not-open" => Outcome::NotOpen,
            "queued" => Outcome::Queued,
            "dead" => Outcome::Dead,
            other => return Err(format!("its result is {other}")),
        })
    }
}

/// Whether an answer is about the request: one that succeeded, or a refusal of the coupon.
pub fn is_answer(answered: &Answered) -> bool {
    let refusal = || {
        let wire: Option<Wire> = serde_json::from_slice(&answered.body).ok();
        let code = wire.and_then(|wire| wire.code);
        code.is_some_and(|code| matches!(code.as_str(), "already-issued" | "out-of-stock" | "not-open"))
    };
    match answered.status {
        StatusCode::CONFLICT | StatusCode::FORBIDDEN => refusal(),
        status => status.is_success(),
    }
}

/// Reads it and checks that it is an answer to this request. The error says what is wrong with it.
pub fn read(plan: &Plan, ask: Ask, answered: &Answered) -> Result<Outcome, String> {
    let wire: Wire = serde_json::from_slice(&answered.body).map_err(|error| format!("it can't be read: {error}"))?;
    if !answered.status.is_success() {
        let code = wire.code.clone().unwrap_or_default();
        return wire.outcome(&code);
    }
    for (field, got, sent) in [
        ("request_id", &wire.request_id, plan.request_id(ask)),
        ("user_id", &wire.user_id, user_id(ask.user)),
    ] {
        if got.as_ref() != Some(&sent) {
            return Err(format!(
                "{field} is {}, sent was {sent}",
                got.as_deref().unwrap_or("missing")
            ));
        }
    }
    let result = wire.result.clone().ok_or("it has no result")?;
    wire.outcome(&result)
}

/// When it joined the queue and when it was decided, in ms of the service's clock, if the answer says so.
pub fn times_ms(answered: &Answered) -> (Option<i64>, Option<i64>) {
    let Ok(wire) = serde_json::from_slice::<Wire>(&answered.body) else {
        return (None, None);
    };
    let ms = |text: Option<String>| Some(text?.parse::<jiff::Timestamp>().ok()?.as_millisecond());
    (ms(wire.queued_at), ms(wire.issued_at.or(wire.decided_at)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;
    use crate::Args;

    const ASK: Ask = Ask { user: 7, request: 2 };

    fn read_value(status: u16, body: &Value) -> Result<Outcome, String> {
        let plan = Plan::new(&Args::parse_from(["simulate", "--coupons"]));
        let answered = answered(status, body);
        assert!(is_answer(&answered));
        read(&plan, ASK, &answered)
    }

    fn answered(status: u16, body: &Value) -> Answered {
        Answered {
            status: StatusCode::from_u16(status).expect("a status"),
            replayed: false,
            body: body.to_string().into(),
            repeats: 0,
            sent: std::time::Instant::now(),
        }
    }

    fn issued() -> Value {
        json!({"result":"issued","request_id":"s1-u7-2","user_id":"u7","sequence":4,"code":"7KQ2XM-0V9TPB-3HWD1C",
            "issued_at":"2026-11-21T06:00:00.123Z"})
    }

    #[test]
    fn the_documented_answers_are_read() {
        let unit = read_value(201, &issued())
            .expect("an issue")
            .unit()
            .cloned()
            .expect("a unit");
        assert_eq!((unit.sequence, unit.code.as_str()), (4, "7KQ2XM-0V9TPB-3HWD1C"));
        let mut voided = issued();
        voided["result"] = json!("voided");
        assert_eq!(read_value(200, &voided), Ok(Outcome::Voided(unit.clone())));
        let refused = json!({"type":"/problems/already-issued","code":"already-issued","issue":issued()});
        let already = Outcome::AlreadyIssued {
            request_id: "s1-u7-2".to_owned(),
            user_id: "u7".to_owned(),
            unit,
        };
        assert_eq!(read_value(409, &refused), Ok(already.clone()));
        let looked_up = json!({"result":"already-issued","request_id":"s1-u7-2","user_id":"u7","issue":issued()});
        assert_eq!(read_value(200, &looked_up), Ok(already));
        assert_eq!(
            read_value(409, &json!({"code":"out-of-stock"})),
            Ok(Outcome::OutOfStock)
        );
        assert_eq!(read_value(403, &json!({"code":"not-open"})), Ok(Outcome::NotOpen));
        let queued = json!({"result":"queued","request_id":"s1-u7-2","user_id":"u7","position":3});
        assert_eq!(read_value(202, &queued), Ok(Outcome::Queued));
    }

    #[test]
    fn the_times_of_the_queue_are_read() {
        let queued = json!({"result":"queued","queued_at":"2026-11-21T06:00:00.100Z"});
        let refused = json!({"result":"out-of-stock","decided_at":"2026-11-21T06:00:00.130Z"});
        let (joined, none) = times_ms(&answered(202, &queued));
        let (_, decided) = times_ms(&answered(200, &refused));
        assert_eq!(
            (decided.zip(joined).map(|(to, from)| to - from), none),
            (Some(30), None)
        );
        assert_eq!(times_ms(&answered(200, &issued())).1, joined.map(|at| at + 23));
    }

    #[test]
    fn an_answer_to_something_else_is_named() {
        for (field, value, named) in [
            ("request_id", json!("s1-u7-1"), "request_id"),
            ("user_id", json!("u8"), "user_id"),
            ("sequence", json!(null), "sequence"),
            ("result", json!("perhaps"), "perhaps"),
        ] {
            let mut changed = issued();
            changed[field] = value;
            let error = read_value(201, &changed).expect_err(field);
            assert!(error.contains(named), "{field}: {error}");
        }
        assert!(
            read_value(409, &json!({"code":"already-issued"})).is_err(),
            "it names nothing"
        );
    }

    #[test]
    fn a_refusal_of_the_service_is_no_answer() {
        for (status, code) in [(409, "coupon-suspended"), (403, "forbidden"), (422, "invalid-request")] {
            assert!(!is_answer(&answered(status, &json!({ "code": code }))), "{code}");
        }
    }
}
