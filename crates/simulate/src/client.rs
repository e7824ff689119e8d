//! The HTTP client of one player: one kept-alive connection, and the same request until it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::SimulateError;
use super::tls::client_config;

/// A request without an answer is given up after this, and repeated.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// A call that is repeated without an answer for this long ends the run.
const ANSWER_LIMIT: Duration = Duration::from_mins(1);
/// Longer than any run.
const STREAM_TIMEOUT: Duration = Duration::from_hours(24);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// Short, because a restart of the service is what a run waits for most.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Items of one page: the most that the service gives.
const LONGEST_PAGE: &str = "1000";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// How much of an unexpected answer an error shows, in characters.
const SHOWN: usize = 400;

/// Where the service is and how it is called.
#[derive(Debug, Clone)]
pub struct Target {
    /// Without a path.
    pub url: String,
    /// An API key with the role `operate`.
    pub key: String,
    /// The draw secret, when known.
    pub secret: Option<[u8; 32]>,
}

/// One client with one connection.
#[derive(Debug, Clone)]
pub struct Api {
    http: reqwest::Client,
    base: Url,
    prefer: Option<HeaderValue>,
    /// How often calls were repeated because no answer came or the service said 503.
    repeats: Arc<AtomicU64>,
}

/// An answer with a status that was expected.
#[derive(Debug, Clone)]
pub struct Answered {
    pub status: StatusCode,
    /// The header `Idempotency-Replayed: true`.
    pub replayed: bool,
    pub body: Bytes,
    /// How often the call was sent in vain before.
    pub repeats: u32,
    /// When the call that was answered was sent.
    pub sent: Instant,
}

impl Answered {
    /// The body, as what the contract says.
    pub fn json<T: DeserializeOwned>(&self, call: &str) -> Result<T, SimulateError> {
        serde_json::from_slice(&self.body).map_err(|error| SimulateError::unreadable(call, error.to_string()))
    }
}

impl Api {
    /// A client with a connection of its own, opened at its first call.
    pub fn new(target: &Target, repeats: Arc<AtomicU64>) -> Result<Self, SimulateError> {
        let bad_url = |detail: String| SimulateError::Url {
            url: target.url.clone(),
            detail,
        };
        let base = Url::parse(&target.url).map_err(|error| bad_url(error.to_string()))?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", target.key))
            .map_err(|_| SimulateError::Usage("--key has characters that no header can carry".to_owned()))?;
        bearer.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, bearer),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        let http = reqwest::Client::builder()
            .default_headers(headers)
            .http1_only()
            .no_proxy()
            .tls_backend_preconfigured(client_config()?)
            .pool_max_idle_per_host(1)
            .tcp_nodelay(true)
            .timeout(REQUEST_TIMEOUT)
            .build()
            .map_err(SimulateError::Client)?;
        Ok(Self {
            http,
            base,
            prefer: None,
            repeats,
        })
    }

    /// Prefers not to wait (RFC 7240, 4.1).
    pub fn respond_async(self) -> Self {
        let prefer = Some(HeaderValue::from_static("respond-async"));
        Self { prefer, ..self }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url
    }

    /// Sends the request until it is answered. Safe because every call of a run is idempotent.
    ///
    /// # Errors
    /// [`SimulateError::Refused`] for a status that isn't 2xx nor a reason to repeat, [`SimulateError::NoAnswer`].
    pub async fn call(&self, method: Method, url: &Url, body: Option<Bytes>) -> Result<Answered, SimulateError> {
        self.call_until(method, url, body, |answered| answered.status.is_success())
            .await
    }

    /// The same, with what counts as an answer: other statuses may be one too.
    pub async fn call_until(
        &self,
        method: Method,
        url: &Url,
        body: Option<Bytes>,
        is_answer: impl Fn(&Answered) -> bool,
    ) -> Result<Answered, SimulateError> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut repeats = 0;
        loop {
            let last = match self.send_once(method.clone(), url, body.clone()).await {
                Ok(answered) if is_answer(&answered) => {
                    return Ok(Answered { repeats, ..answered });
                }
                Ok(answered) if is_for_now(answered.status) => answered.status.to_string(),
                Ok(answered) => {
                    return Err(SimulateError::Refused {
                        call: format!("{method} {}", url.path()),
                        status: answered.status.as_u16(),
                        body: String::from_utf8_lossy(&answered.body).chars().take(SHOWN).collect(),
                    });
                }
                Err(error) => chain(&error),
            };
            if started.elapsed() > ANSWER_LIMIT {
                let call = format!("{method} {}", url.path());
                return Err(SimulateError::NoAnswer {
                    call,
                    seconds: ANSWER_LIMIT.as_secs(),
                    last,
                });
            }
            repeats += 1;
            self.repeats.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// `GET`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, SimulateError> {
        self.call(Method::GET, &self.url(path), None).await?.json(path)
    }

    /// All items of a list. The error says what is wrong.
    pub async fn pages<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<T>, String> {
        #[derive(Deserialize)]
        struct Page<T> {
            items: Vec<T>,
            next_cursor: Option<String>,
        }
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut url = self.url(path);
            url.query_pairs_mut()
                .extend_pairs(query)
                .append_pair("limit", LONGEST_PAGE)
                .extend_pairs(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let answer = self.call(Method::GET, &url, None).await;
            let answer = answer.map_err(|error| error.to_string())?;
            let page: Page<T> = serde_json::from_slice(&answer.body).map_err(|error| format!("{url}: {error}"))?;
            items.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(items);
            }
        }
    }

    /// `PUT` or `POST` of a JSON body.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Answered, SimulateError> {
        self.call(method, &self.url(path), Some(Bytes::from(body.to_string())))
            .await
    }

    /// Opens a stream, which may stay open as long as the run.
    pub async fn listen(&self, url: &Url) -> Result<Response, reqwest::Error> {
        self.http.get(url.clone()).timeout(STREAM_TIMEOUT).send().await
    }

    /// One try, whatever its status.
    pub async fn send_once(&self, method: Method, url: &Url, body: Option<Bytes>) -> Result<Answered, reqwest::Error> {
        let mut request = self.http.request(method, url.clone());
        if let Some(body) = body {
            request = request.body(body);
        }
        if let Some(prefer) = &self.prefer {
            request = request.header(PREFER, prefer);
        }
        let sent = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let replayed = response.headers().get(REPLAYED).is_some_and(|value| value == "true");
        Ok(Answered {
            status,
            replayed,
            body: response.bytes().await?,
            repeats: 0,
            sent,
        })
    }
}

/// Statuses after which the same call may succeed.
fn is_for_now(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// An error with its causes, in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
