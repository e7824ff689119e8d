//! An operator without a browser: signs in, reads pages, sends their forms as they are.

use std::borrow::Cow;

use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};

use crate::support::client_builder;
use crate::support::prelude::*;

/// A page as it came.
#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub html: String,
}

impl Page {
    async fn of(answer: reqwest::Response) -> Self {
        Self {
            status: answer.status(),
            headers: answer.headers().clone(),
            html: answer.text().await.expect("a page"),
        }
    }

    /// It has this status. Returns itself.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Where it leads, as it says it; empty without that.
    pub fn leads_to(&self) -> &str {
        let to = self.headers.get(LOCATION);
        to.map_or("", |to| to.to_str().expect("an address"))
    }

    /// Where it leads; empty without that.
    pub fn location(&self) -> &str {
        let to = self.leads_to();
        // Without the time and the signature of what was done.
        let done = to
            .find("done=done-")
            .and_then(|from| Some(from + to[from..].find('.')?));
        done.map_or(to, |end| &to[..end])
    }

    /// The hidden fields of its forms, each once.
    fn hidden(&self) -> Vec<(String, String)> {
        let inputs = self.html.split("<input type=\"hidden\"").skip(1);
        let mut fields = Vec::<(String, String)>::new();
        for input in inputs {
            let tag = input.split('>').next().unwrap_or_default();
            let name = unescaped(between(tag, "name=\"", "\""));
            if fields.iter().all(|(of, _)| *of != name) {
                fields.push((name, unescaped(between(tag, "value=\"", "\""))));
            }
        }
        fields
    }

    /// Where the first link leads whose tag or text has this.
    pub fn link(&self, what: &str) -> String {
        let mut links = self.html.split("<a ").skip(1);
        let of = links.find(|link| link.split("</a>").next().is_some_and(|link| link.contains(what)));
        let of = of.unwrap_or_else(|| panic!("a link with {what} in {}", self.text()));
        unescaped(between(of, "href=\"", "\""))
    }

    /// Its text without tags.
    pub fn text(&self) -> String {
        let parts = self
            .html
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        unescaped(&parts.collect::<Vec<_>>().join(" "))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl Says for Page {
    fn words(&self) -> Cow<'_, str> {
        self.text().into()
    }
}

/// The first text between two others.
pub fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} in {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("{after} in {rest}")).0
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// Someone at the console of a service.
#[derive(Clone)]
pub struct Operator {
    base: String,
    client: reqwest::Client,
    /// `name=value` of the session.
    pub cookie: String,
}

impl Operator {
    /// Someone who has not signed in.
    pub fn nobody(service: &Service) -> Self {
        Self {
            base: service.url(""),
            client: without_redirects(),
            cookie: String::new(),
        }
    }

    /// Signs in with the service's first key.
    pub async fn sign_in(service: &Service) -> Self {
        Self::sign_in_with(service, service.operator_key()).await
    }

    /// Signs in with a key.
    pub async fn sign_in_with(service: &Service, key: &str) -> Self {
        let mut operator = Self::nobody(service);
        let answer = operator.try_key(key).await;
        answer.is(303);
        operator.cookie = session_cookie(&answer);
        operator
    }

    /// Sends the form of signing in.
    pub async fn try_key(&self, key: &str) -> Page {
        let form = self.get("/console/sign-in").await;
        let tie = session_cookie(&form);
        let fields = form
            .hidden()
            .into_iter()
            .chain([("key".to_owned(), key.to_owned())])
            .collect();
        let other = Self {
            cookie: tie,
            ..self.clone()
        };
        other.send("/console/sign-in", fields, &[]).await
    }

    /// The same operator at another instance.
    pub fn at(&self, other: &Service) -> Self {
        Self {
            base: other.url(""),
            ..self.clone()
        }
    }

    /// A page.
    pub async fn get(&self, path: &str) -> Page {
        self.request(Method::GET, path, None, &[]).await
    }

    /// A page that must be there.
    pub async fn page(&self, path: &str) -> Page {
        let page = self.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text());
        page
    }

    /// The overview, once it has this text.
    pub async fn overview(&self, what: &str) -> Page {
        eventually(PATIENCE, what, async || {
            let page = self.page("/console/").await;
            page.text().contains(what).then_some(page)
        })
        .await
    }

    /// Opens a page and sends its form with these fields.
    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let page = self.page(path).await;
        self.submit_on(&page, path, fields).await
    }

    /// Sends the form of a page that came before.
    pub async fn submit_on(&self, page: &Page, path: &str, fields: &[(&str, &str)]) -> Page {
        let given = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let hidden = page.hidden().into_iter();
        let hidden = hidden.filter(|(name, _)| fields.iter().all(|(given, _)| given != name));
        self.send(path, hidden.chain(given).collect(), &[]).await
    }

    /// Sends fields, with further headers.
    pub async fn send(&self, path: &str, fields: Vec<(String, String)>, headers: &[(&str, &str)]) -> Page {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.request(Method::POST, path, Some(body), headers).await
    }

    /// Sends the form of a page with a file, as a browser does: the file last, with its name and content.
    pub async fn upload(
        &self,
        page: &Page,
        path: &str,
        fields: &[(&str, &str)],
        (field, name, content): (&str, &str, &str),
        headers: &[(&str, &str)],
    ) -> Page {
        const BOUNDARY: &str = "of-this-form";
        let given = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let hidden = page.hidden();
        let texts = hidden.into_iter().chain(given);
        let part = |about: &str, value: &str| {
            format!("--{BOUNDARY}\r\ncontent-disposition: form-data; {about}\r\n\r\n{value}\r\n")
        };
        let file = format!("name=\"{field}\"; filename=\"{name}\"\r\ncontent-type: application/octet-stream");
        let parts = texts.map(|(name, value)| part(&format!("name=\"{name}\""), &value));
        let parts: Vec<_> = parts.chain([part(&file, content)]).collect();
        let body = format!("{}--{BOUNDARY}--\r\n", parts.concat());
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let mut request = self
            .client
            .post(format!("{}{path}", self.base))
            .header(COOKIE, &self.cookie)
            .header(CONTENT_TYPE, kind)
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Page::of(request.send().await.expect("the service answers")).await
    }

    async fn request(&self, method: Method, path: &str, body: Option<String>, headers: &[(&str, &str)]) -> Page {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if !self.cookie.is_empty() {
            request = request.header(COOKIE, &self.cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(body);
        }
        Page::of(request.send().await.expect("the service answers")).await
    }
}

fn without_redirects() -> reqwest::Client {
    let built = client_builder().redirect(reqwest::redirect::Policy::none()).build();
    built.expect("a client")
}

/// A new key with this role and name, once the service honours it.
pub async fn key(service: &Service, role: &str) -> String {
    honoured(service, &["--role", role, "--name", role]).await
}

/// A new key with this role that may name one subject only.
pub async fn bound_key(service: &Service, role: &str, only: &str) -> String {
    honoured(service, &["--role", role, "--name", "bound", "--only", only]).await
}

async fn honoured(service: &Service, options: &[&str]) -> String {
    let made = service.command(&[&["key", "new"], options].concat());
    made.done();
    let key = String::from_utf8(made.stdout).expect("a key is text").trim().to_owned();
    let client = without_redirects();
    eventually(PATIENCE, "the service honours the key", async || {
        let asked = client
            .get(service.url("/v1/audit"))
            .bearer_auth(&key)
            .send()
            .await
            .ok()?;
        (asked.status() != StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    key
}

/// Revokes the key of this name.
pub fn revoke(service: &Service, name: &str) {
    let revoked = service.command(&["key", "revoke", name]);
    revoked.done();
}

/// The cookie that an answer sets, as the browser sends it back.
pub fn session_cookie(page: &Page) -> String {
    let set = page.headers.get(SET_COOKIE).expect("a cookie").to_str().expect("text");
    set.split(';').next().expect("a pair").to_owned()
}

/// Puts something on every page: a jackpot with payouts, one that gave its money to another, a coupon with issues, a room with
/// users inside and waiting.
pub async fn populated(service: &Service) {
    let jackpot = json!({
        "id": "spring", "name": "Spring wheel", "currency": "EUR", "contribution": {"fixed": 100}, "public_meter": true,
        "tiers": [{"tier": "grand", "share_ppm": 600_000, "min_payout": 100, "reserve_ppm": 100_000},
                  {"tier": "mini", "share_ppm": 400_000, "min_payout": 1}],
        "odds": {"total": 4, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 2, "prize": {"fixed": {"tier": "mini", "amount": 30}}}]},
    });
    let coupon = json!({"name": "Coffee", "stock": 5, "per_user": 1, "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"});
    let room = json!({"capacity": 2, "session_s": 600, "waiting_timeout_s": 600, "name": "The spring lobby",
        "back": "https://shop.example/", "return_origins": ["https://shop.example"]});
    let launch = json!({"capacity": 1_000, "session_s": 300, "waiting_timeout_s": 60, "admissions_per_minute": 600,
        "opens_at": "2100-01-01T00:00:00Z"});
    for (path, body) in [
        ("jackpots/spring", jackpot),
        ("coupons/coffee", coupon),
        ("rooms/lobby", room),
        ("rooms/launch", launch),
    ] {
        service.put(&format!("/v1/{path}"), body).await.is(201);
    }
    for number in 0..12 {
        let entry = json!({"entry_id": format!("e{number}"), "player_id": format!("player-{number}"), "stake": 100});
        service.post("/v1/jackpots/spring/entries", entry).await;
    }
    gave(service).await;
    // Nobody has an address of `.example`, so the subscription fails.
    let subscription = json!({"target": {"webhook": {"url": "https://hooks.example/jackpot"}}, "types": ["payout.*"],
        "subjects": ["jackpot:spring"], "from": "beginning"});
    service.put("/v1/subscriptions/accounting", subscription).await.is(201);
    for number in 0..3 {
        let issue = json!({"request_id": format!("r{number}"), "user_id": format!("user-{number}")});
        service.post("/v1/coupons/coffee/issues", issue).await;
        service
            .post("/v1/rooms/lobby/tickets", json!({"user_id": format!("user-{number}")}))
            .await;
    }
}

/// A paused jackpot `old` whose two tiers gave their money to `new`.
async fn gave(service: &Service) {
    for id in ["old", "new"] {
        let jackpot = json!({
            "id": id, "name": id, "currency": "EUR", "contribution": {"fixed": 100},
            "tiers": [{"tier": "grand", "share_ppm": 600_000, "min_payout": 100},
                      {"tier": "mini", "share_ppm": 400_000, "min_payout": 1}],
            "odds": {"total": 1, "ranks": []},
        });
        service.put(&format!("/v1/jackpots/{id}"), jackpot).await.is(201);
    }
    let entry = json!({"entry_id": "e", "player_id": "player-1", "stake": 100});
    service.post("/v1/jackpots/old/entries", entry).await;
    service
        .post("/v1/jackpots/old/pause", json!({"reason": "end of season"}))
        .await;
    let tiers = json!({"grand": "grand", "mini": "grand"});
    let transfer = json!({"transfer_id": "t", "to": "new", "tiers": tiers, "reason": "end of season"});
    service.post("/v1/jackpots/old/transfers", transfer).await.is(201);
}

/// Waits until the audit trail of a subject, such as `coupon_id=coffee`, has an action of this person for this reason.
pub async fn audited(service: &Service, subject: &str, who: &str, reason: &str) {
    eventually(PATIENCE, "the action is in the audit trail", async || {
        let rows = service.get(&format!("/v1/audit?{subject}")).await.body["items"].take();
        let is_it = |row: &serde_json::Value| row["who"] == who && row["reason"] == reason;
        rows.as_array()?.iter().any(is_it).then_some(())
    })
    .await;
}
