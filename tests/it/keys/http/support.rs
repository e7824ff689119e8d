//! What these tests share: keys made by the program, and requests with them.

use std::time::Duration;

use reqwest::{Client, RequestBuilder};

use crate::support::prelude::*;

/// Asks a service with a key.
pub struct Asking {
    base: String,
    key: String,
    client: Client,
}

impl Asking {
    /// The key itself.
    pub fn secret(&self) -> &str {
        &self.key
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.key)
    }

    /// Status and code of the problem, if it is one.
    pub async fn ask(&self, method: &Method, path: &str, body: Option<&Value>) -> (u16, String) {
        let request = self.request(method.clone(), path);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        // The body is not read, because a stream has no end.
        if status == 200 {
            return (status, String::new());
        }
        let body: Value = answer.json().await.unwrap_or_default();
        (status, body["code"].as_str().unwrap_or_default().to_owned())
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.expect("an answer");
        answer.json().await.expect("JSON")
    }
}

/// Makes a key by the command line and waits until the service honours it.
pub async fn key(service: &Service, name: &str, options: &[&str]) -> Asking {
    let made = service.command(&[&["key", "new", "--name", name], options].concat());
    made.done();
    let asking = Asking {
        base: service.url(""),
        key: String::from_utf8(made.stdout).expect("text").trim().to_owned(),
        client: http_client(),
    };
    eventually(Duration::from_secs(10), "the key is honoured", async || {
        let (status, _) = asking.ask(&Method::GET, "/v1/payouts/none", None).await;
        // 429: too many tries with a key that nobody knows yet.
        (status != 401 && status != 429).then_some(())
    })
    .await;
    asking
}

pub fn coupon(stock: u64) -> Value {
    json!({"name": "A test", "stock": stock, "per_user": 1, "per_user_window_s": null, "starts_at": null, "ends_at": null})
}

pub fn room() -> Value {
    json!({"capacity": 1, "session_s": 600, "waiting_timeout_s": 60, "admissions_per_minute": null})
}
