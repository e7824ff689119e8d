//! Users who ask for coupons as fast as the service answers. They repeat a request until it is answered, as a good
//! client does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Barrier, watch};
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::support::client_builder;
use crate::support::prelude::*;

/// How soon a request that was not answered is tried again.
const REPEAT_EVERY: Duration = Duration::from_millis(20);

/// A client that goes on while the service is killed and started again.
#[derive(Clone)]
pub struct Client {
    base: String,
    key: String,
    http: reqwest::Client,
}

/// The outcome of a request.
#[derive(Debug, Clone)]
pub struct Answered {
    pub request_id: String,
    pub user: String,
    /// `issued`, or the code of the refusal.
    pub result: String,
    /// The whole body of the answer.
    pub body: Value,
}

impl Client {
    pub fn of(service: &Service) -> Self {
        Self {
            base: service.url(""),
            key: service.operator_key().to_owned(),
            http: client_builder().timeout(PATIENCE).build().expect("a client"),
        }
    }

    /// One try; `None` when there is no answer, or one that asks to come again.
    pub async fn once(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        wait: bool,
    ) -> Option<(StatusCode, Value)> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.key);
        if let Some(body) = body {
            request = request.json(body);
        }
        if !wait {
            request = request.header("Prefer", "respond-async");
        }
        let answer = request.send().await.ok()?;
        let status = answer.status();
        let body = answer.json().await.unwrap_or(Value::Null);
        (status != StatusCode::SERVICE_UNAVAILABLE).then_some((status, body))
    }

    /// Repeats a call until it is answered.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>, wait: bool) -> (StatusCode, Value) {
        let mut again = interval(REPEAT_EVERY);
        loop {
            again.tick().await;
            if let Some(answer) = self.once(method.clone(), path, body, wait).await {
                return answer;
            }
        }
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.call(Method::GET, path, None, true).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    pub async fn define(&self, coupon: &str, stock: u64) {
        let body = json!({"name": coupon, "stock": stock, "per_user": 1, "per_user_window_s": null,
            "starts_at": null, "ends_at": null});
        let (status, answer) = self
            .call(Method::PUT, &format!("/v1/coupons/{coupon}"), Some(&body), true)
            .await;
        assert!(status.is_success(), "{status} {answer}");
    }

    /// Asks for a unit until the answer is final. A request in the queue is asked for until its turn has come.
    pub async fn ask(&self, coupon: &str, request_id: &str, user: &str) -> Answered {
        let body = json!({"request_id": request_id, "user_id": user});
        let (status, body) = self
            .call(Method::POST, &format!("/v1/coupons/{coupon}/issues"), Some(&body), true)
            .await;
        let result = match status {
            StatusCode::CREATED | StatusCode::OK => body["result"].as_str(),
            StatusCode::CONFLICT | StatusCode::FORBIDDEN => body["code"].as_str(),
            other => panic!("{request_id}: {other} {body}"),
        };
        Answered {
            request_id: request_id.to_owned(),
            user: user.to_owned(),
            result: result.expect("a result or a code").to_owned(),
            body,
        }
    }

    /// Joins the queue.
    pub async fn join(&self, coupon: &str, request_id: &str, user: &str) {
        let body = json!({"request_id": request_id, "user_id": user});
        let (status, body) = self
            .call(
                Method::POST,
                &format!("/v1/coupons/{coupon}/issues"),
                Some(&body),
                false,
            )
            .await;
        assert!(
            matches!(
                status,
                StatusCode::ACCEPTED | StatusCode::CREATED | StatusCode::OK | StatusCode::CONFLICT
            ),
            "{status} {body}"
        );
    }

    /// The present answer about a request.
    pub async fn result(&self, coupon: &str, request_id: &str) -> Value {
        self.get(&format!("/v1/coupons/{coupon}/issues/{request_id}")).await
    }

    /// All issues of the ledger, once it has `count`.
    pub async fn issues(&self, coupon: &str, count: usize) -> Vec<Value> {
        eventually(PATIENCE, "the ledger has all issues", async || {
            let page = self.get(&format!("/v1/coupons/{coupon}/issues?limit=1000")).await;
            let items = page["items"].as_array().expect("a list").clone();
            (items.len() == count).then_some(items)
        })
        .await
    }
}

/// Requests of users, several of each, by workers that all begin at one instant.
pub struct Crowd {
    answers: JoinSet<Vec<Answered>>,
    answered: Arc<watch::Sender<usize>>,
}

impl Crowd {
    pub fn new(client: &Client, coupon: &str, requests: Vec<(String, String)>, workers: usize) -> Self {
        let (barrier, next) = (Arc::new(Barrier::new(workers)), Arc::new(AtomicUsize::new(0)));
        let (requests, answered) = (Arc::new(requests), Arc::new(watch::Sender::new(0)));
        let mut answers = JoinSet::new();
        for _ in 0..workers {
            let (client, coupon, barrier) = (client.clone(), coupon.to_owned(), Arc::clone(&barrier));
            let (next, requests, answered) = (Arc::clone(&next), Arc::clone(&requests), Arc::clone(&answered));
            answers.spawn(async move {
                barrier.wait().await;
                let mut answers = Vec::new();
                while let Some((request_id, user)) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    answers.push(client.ask(&coupon, request_id, user).await);
                    answered.send_modify(|answered| *answered += 1);
                }
                answers
            });
        }
        Self { answers, answered }
    }

    pub async fn until_answered(&self, count: usize) {
        let waiting = self.answered.subscribe();
        let mut waiting = waiting;
        let enough = waiting.wait_for(|answered| *answered >= count);
        tokio::time::timeout(PATIENCE, enough)
            .await
            .expect("in time")
            .expect("the crowd is there");
    }

    pub async fn answers(self) -> Vec<Answered> {
        self.answers.join_all().await.into_iter().flatten().collect()
    }
}

/// Every user's requests, one round of all users after the other: `(request id, user)`.
pub fn requests(users: usize, each: usize) -> Vec<(String, String)> {
    let round = |n| (0..users).map(move |user| (format!("r{user}-{n}"), format!("u{user}")));
    (0..each).flat_map(round).collect()
}

/// Exactly the stock was issued, to as many users, in the order of the ledger. All others got the reason for their
/// refusal.
pub async fn assert_sold_out(client: &Client, coupon: &str, stock: usize, answers: &[Answered]) {
    let shown = client.get(&format!("/v1/coupons/{coupon}")).await;
    let counts = ["stock", "issued", "voided", "remaining", "queued", "dead"].map(|name| shown[name].as_u64());
    assert_eq!(counts, [stock as u64, stock as u64, 0, 0, 0, 0].map(Some), "{shown}");
    let issued: BTreeMap<u64, &Answered> = answers
        .iter()
        .filter(|answer| answer.result == "issued")
        .map(|answers| (answers.body["sequence"].as_u64().expect("a sequence"), answers))
        .collect();
    assert_eq!(
        issued.keys().copied().collect::<Vec<_>>(),
        (1..=stock as u64).collect::<Vec<_>>()
    );
    let owners: BTreeMap<&str, u64> = issued
        .iter()
        .map(|(sequence, answers)| (answers.user.as_str(), *sequence))
        .collect();
    assert_eq!(owners.len(), stock, "no user has two");
    for answers in answers {
        let expected = match (owners.get(answers.user.as_str()), answers.result.as_str()) {
            (Some(_), "issued" | "already-issued") | (None, "out-of-stock") => true,
            // A user with a unit never gets `out-of-stock`, and a user without one never gets `already-issued`.
            _ => false,
        };
        assert!(expected, "{answers:?}");
    }
    let rows = client.issues(coupon, stock).await;
    for (row, (sequence, answers)) in rows.iter().zip(&issued) {
        assert_eq!(row["sequence"].as_u64(), Some(*sequence));
        let same = ["request_id", "user_id", "code"].map(|name| row[name] == answers.body[name]);
        assert_eq!(same, [true; 3], "{row} {answers:?}");
    }
}
