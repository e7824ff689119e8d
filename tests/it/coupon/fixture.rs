//! What the fixture has for a coupon: the wrappers of its scripts.

use std::collections::BTreeMap;

use jackpot::coupon::code::Code;
use jackpot::coupon::definition::Definition;
use jackpot::coupon::record::{Issue, Record, State};
use jackpot::coupon::redemption::Reference;
use jackpot::coupon::scripts::{
    self, Acted, Answer, Ask, AskReply, Asked, Define, Defined, FromLedger, Looked, Mode, Redeem, Redeemed,
    ScriptError, Serve, Served, SetStatus, Snapshot, StatusSet, Taken, Wanted,
};
use jackpot::store::Store;
use jackpot::store::keys::{CouponKeys, StreamKeys};
use jackpot_api::coupon::Status;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::mark::Mark;

use crate::support::fixture::{Capability, Fields, Fixture};
use crate::support::given::operator;
use crate::support::prelude::*;

/// A lease that outlives every test.
pub const LEASE_MS: u64 = 600_000;

/// What the fixture has for a coupon.
pub struct Coupon {
    pub keys: CouponKeys,
}

pub type CouponFixture = Fixture<Coupon>;

/// An event: type and fields.
pub type Event = (String, Fields);

impl Capability for Coupon {
    type Event = Event;
    const STEM: &'static str = "c";

    fn new(id: &Id, _: &Store) -> Self {
        Self {
            keys: CouponKeys::new(id),
        }
    }

    fn stream_keys(&self) -> StreamKeys<'_> {
        self.keys.stream()
    }

    /// Ten units, one a user.
    async fn create(fixture: &CouponFixture, change: &Value) {
        assert_eq!(fixture.define(change).await, Defined::Created(1));
    }

    fn event(fields: Fields) -> Event {
        (fields["type"].clone(), fields)
    }
}

impl CouponFixture {
    /// Reads the version in Redis, then puts a definition.
    pub async fn define(&self, change: &Value) -> Defined {
        let (version, nonce) = self.next_definition().await;
        self.put(change, Wanted::Any, version, &nonce).await.expect("a reply")
    }

    /// Puts a definition.
    pub async fn put(
        &self,
        change: &Value,
        wanted: Wanted,
        last_version: Option<u64>,
        nonce: &str,
    ) -> Result<Defined, ScriptError> {
        let definition = definition(change);
        let wish = Define {
            definition: &definition,
            wanted,
            last_version,
            nonce,
            history: "0123456789abcdef",
            by: &operator(),
        };
        let put = scripts::define(&self.store, &self.keys, Mark::ZERO, &wish, 7_200).await;
        put.map(|(_, defined)| defined)
    }

    pub async fn issue(&self, requests: &[Ask]) -> Asked {
        scripts::issue(&self.store, &self.keys, Mark::ZERO, requests)
            .await
            .expect("a reply")
    }

    /// The answers, where every request is taken now or was taken before.
    pub async fn answers(&self, requests: &[Ask]) -> Vec<Answer> {
        let asked = self.issue(requests).await;
        assert_eq!(asked.refusal, None);
        asked.answers.into_iter().map(answered).collect()
    }

    /// The answers to requests that are known, where new ones are refused.
    pub async fn answers_also_refused(&self, requests: &[Ask]) -> Vec<Answer> {
        self.issue(requests).await.answers.into_iter().map(answered).collect()
    }

    /// Sends one request, to be decided at once.
    pub async fn now(&self, request_id: &str, user: &str) -> Answer {
        self.answers(&[ask(request_id, user)]).await.remove(0)
    }

    /// Sends one request to the queue; returns how many requests are before it.
    pub async fn join(&self, request_id: &str, user: &str) -> u64 {
        let answer = self.answers(&[ask_queue(request_id, user)]).await.remove(0);
        answer.place.expect("it is in the queue")
    }

    pub async fn serve(&self, token: &str, take_id: &str, served: &[(String, Code)], next: usize) -> Served {
        let wish = Serve {
            token,
            lease_ms: LEASE_MS,
            take_id,
            served,
            next,
        };
        scripts::serve(&self.store, &self.keys, Mark::ZERO, &wish)
            .await
            .expect("a reply")
    }

    /// [`Self::serve`], which must succeed: the answers, and what it took.
    pub async fn served(
        &self,
        token: &str,
        take_id: &str,
        served: &[(String, Code)],
        next: usize,
    ) -> (Vec<Option<Answer>>, Vec<Taken>) {
        match self.serve(token, take_id, served, next).await {
            Served::Done { answers, taken, .. } => (answers, taken),
            other => panic!("{other:?}"),
        }
    }

    pub async fn void(&self, request_id: &str) -> Acted {
        scripts::void(&self.store, &self.keys, Mark::ZERO, request_id, "tester", "r")
            .await
            .expect("a reply")
            .1
    }

    pub async fn redeem(&self, request_id: &str, redemption_id: &str, reference: &str) -> Redeemed {
        let wish = redemption(request_id, redemption_id, reference);
        scripts::redeem(&self.store, &self.keys, Mark::ZERO, &wish, None)
            .await
            .expect("a reply")
            .1
    }

    /// With the record that the ledger had at event `n`.
    pub async fn redeem_kept(&self, request_id: &str, redemption_id: &str, n: u64, record: &Record) -> Redeemed {
        let wish = redemption(request_id, redemption_id, "x");
        let record = record.clone();
        scripts::redeem(
            &self.store,
            &self.keys,
            Mark::ZERO,
            &wish,
            Some(&FromLedger { n, record }),
        )
        .await
        .expect("a reply")
        .1
    }

    pub async fn redrive(&self, request_id: &str) -> Acted {
        scripts::redrive(&self.store, &self.keys, Mark::ZERO, request_id, "tester", "r")
            .await
            .expect("a reply")
            .1
    }

    /// As an operator, who ends no suspension.
    pub async fn operated(&self, wanted: Status) -> StatusSet {
        let wish = SetStatus::new(wanted, "a test".to_owned(), &operator());
        scripts::set_status(&self.store, &self.keys, Mark::ZERO, &wish)
            .await
            .expect("a reply")
    }

    /// As the service, which compared the coupon with the ledger before it opens it.
    pub async fn status(&self, wanted: Status) -> StatusSet {
        let wish = SetStatus {
            reconciled: wanted == Status::Open,
            ..SetStatus::new(wanted, "a test".to_owned(), &operator())
        };
        scripts::set_status(&self.store, &self.keys, Mark::ZERO, &wish)
            .await
            .expect("a reply")
    }

    pub async fn lookup(&self, request_id: &str) -> Option<Answer> {
        let looked = scripts::lookup(&self.store, &self.keys, Mark::ZERO, request_id).await;
        match looked.expect("a reply").1 {
            Looked::Found(answer) => Some(answer),
            Looked::Missing | Looked::Retired => None,
        }
    }

    pub async fn snapshot(&self) -> Snapshot {
        scripts::snapshot(&self.store, &self.keys, Mark::ZERO)
            .await
            .expect("readable")
    }

    /// Takes the requests of the queue until they are dead letters.
    pub async fn wear_out(&self) {
        for take in 0.. {
            let (_, taken) = self.served("worn", &format!("worn-{take}"), &[], 1).await;
            if taken.is_empty() && self.snapshot().await.queued == 0 {
                break;
            }
        }
        self.raw::<()>(redis::cmd("HDEL").arg(&self.keys.state).arg("consumer"))
            .await;
    }

    /// Lets the coupon's records be dropped as soon as it is over, unless a caller says otherwise.
    pub async fn drop_at_once(&self) {
        let mut set = redis::cmd("HSET");
        self.raw::<u64>(set.arg(&self.keys.state).arg("retention").arg(0)).await;
    }
}

/// A definition of ten units, one a user, changed by `change`.
pub fn definition(change: &Value) -> Definition {
    let mut document = json!({"name": "Coffee", "stock": 10});
    for (field, value) in change.as_object().expect("an object") {
        document[field] = value.clone();
    }
    Definition::check(serde_json::from_value(document).expect("a document")).expect("valid")
}

/// A redemption by a till.
pub fn redemption(request_id: &str, redemption_id: &str, reference: &str) -> Redeem {
    Redeem {
        request_id: request_id.to_owned(),
        redemption: Id::parse(redemption_id).expect("an id"),
        reference: Reference::parse(reference).expect("a reference"),
        who: "till".to_owned(),
        by_request: "r".to_owned(),
    }
}

/// A request to be decided at once.
pub fn ask(request_id: &str, user: &str) -> Ask {
    Ask {
        request_id: request_id.to_owned(),
        user: user_id(user).into(),
        code: code(),
        mode: Mode::Now,
    }
}

/// A request for the queue.
pub fn ask_queue(request_id: &str, user: &str) -> Ask {
    Ask {
        mode: Mode::Line,
        ..ask(request_id, user)
    }
}

/// The same request with these texts.
pub fn with_metadata(mut asked: Ask, texts: &[(&str, &str)]) -> Ask {
    let texts = texts
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let texts: BTreeMap<_, _> = texts.collect();
    asked.user.metadata = Some(texts.try_into().expect("metadata"));
    asked
}

pub fn user_id(user: &str) -> PersonId {
    PersonId::parse(user).expect("an id")
}

pub fn code() -> Code {
    Code::random().expect("random")
}

/// These requests, each with a new code, as the consumer sends them.
pub fn with_codes<'a>(requests: impl IntoIterator<Item = &'a str>) -> Vec<(String, Code)> {
    requests.into_iter().map(|id| (id.to_owned(), code())).collect()
}

pub fn answered(reply: AskReply) -> Answer {
    match reply {
        AskReply::Answered(answer) => answer,
        AskReply::NotTaken => panic!("not taken"),
    }
}

pub fn record(answer: &Answer) -> &Record {
    answer.record.as_ref().expect("readable")
}

/// The state of the record, whose user must be `user`.
pub fn state_of<'a>(answer: &'a Answer, user: &str) -> &'a State {
    let record = record(answer);
    assert_eq!(record.user.as_str(), user);
    &record.state
}

pub fn issue_of(answer: &Answer) -> Issue {
    match &record(answer).state {
        State::Issued(issue) | State::Voided(issue, _) | State::Redeemed(issue, _) => *issue,
        other => panic!("{other:?}"),
    }
}

/// The first letter of each record, which stands for its state.
pub fn letters(answers: &[Answer]) -> String {
    let letter = |answer: &Answer| record(answer).to_string().remove(0);
    answers.iter().map(letter).collect()
}
