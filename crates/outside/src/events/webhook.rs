//! Sends one event to a webhook: a signed POST of Standard Webhooks, without redirects, to public addresses alone.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::Timestamp;
use thiserror::Error;
use tokio::net::lookup_host;
use tokio::time::timeout;
use tower_service::Service;
use url::Url;

use super::address::is_public;
use super::bounded::BoundedConnector;
use super::cloudevent::{self, Message};
use super::key::Key;
use super::sink::{Outcome, Sink};
use super::target::is_private;
use jackpot_kernel::random::RandomError;
use jackpot_kernel::tls;

/// From the begin of the connection to the answer.
const LIMIT: Duration = Duration::from_secs(10);
/// Longest body of an answer that is read, so that its connection can be used again.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Connections without work that are kept for each host.
const MAX_IDLE: usize = 64;
/// After so long the system asks whether the other side of a connection without work is there, three times.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TRIES: u32 = 3;
/// The status by which a target says that it wants no more.
const GONE: u16 = 410;
/// Longest text of an error, in characters.
const MAX_ERROR_CHARS: usize = 300;

/// Why there is no client of webhooks.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// The roots of trust can't be read.
    #[error("webhooks: {0}")]
    Tls(#[from] rustls::Error),
    /// No thread for tests of targets.
    #[error("webhooks: {0}")]
    Thread(#[from] io::Error),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

type Connector = BoundedConnector<HttpsConnector<HttpConnector<Public>>>;
type HttpClient = Client<Connector, Full<Bytes>>;

/// Sends events. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Webhooks {
    client: HttpClient,
    /// Keeps no connection.
    anew: HttpClient,
    allow_private: bool,
}

impl Webhooks {
    /// `allow_private`: also to addresses that are not public.
    pub fn new(allow_private: bool) -> Result<Self, WebhookError> {
        Ok(Self {
            client: client(allow_private, MAX_IDLE)?,
            anew: client(allow_private, 0)?,
            allow_private,
        })
    }

    async fn post(&self, client: &HttpClient, url: &Url, key: &Key, message: &Message) -> Outcome {
        // A literal address is never resolved.
        if !self.allow_private && is_private(url) {
            return Outcome::failed(REFUSED);
        }
        let now_s = Timestamp::now().as_second();
        let id = message.webhook_id();
        let signature = key.sign(&id, now_s, &message.body);
        let request = Request::post(url.as_str())
            .header(CONTENT_TYPE, cloudevent::CONTENT_TYPE)
            .header(USER_AGENT, concat!("jackpot/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", id)
            .header("webhook-timestamp", now_s.to_string())
            .header("webhook-signature", signature)
            .body(Full::from(message.body.clone()));
        let request = match request {
            Ok(request) => request,
            Err(error) => return Outcome::failed(explain(&error)),
        };
        let ends = tokio::time::Instant::now() + LIMIT;
        match timeout(LIMIT, client.request(request)).await {
            Ok(Ok(answer)) => {
                let outcome = outcome(&answer);
                // The status has come, and it decides. The rest is read so that the connection can be used again.
                let _ = tokio::time::timeout_at(ends, rest(answer)).await;
                outcome
            }
            Ok(Err(error)) => Outcome::failed(explain(&error)),
            Err(_) => Outcome::failed(format!("no answer within {} s", LIMIT.as_secs())),
        }
    }
}

/// The URL of one subscription.
pub(super) struct Webhook {
    webhooks: Webhooks,
    url: Url,
    key: Arc<Key>,
}

impl Webhook {
    pub(super) fn new(webhooks: &Webhooks, url: Url, key: Arc<Key>) -> Self {
        Self {
            webhooks: webhooks.clone(),
            url,
            key,
        }
    }
}

impl Sink for Webhook {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome> {
        Box::pin(self.webhooks.post(&self.webhooks.client, &self.url, &self.key, message))
    }

    fn send_anew<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome> {
        Box::pin(self.webhooks.post(&self.webhooks.anew, &self.url, &self.key, message))
    }
}

/// Without redirects, and without a proxy: it would make the connection, and nobody would check its address.
fn client(allow_private: bool, max_idle: usize) -> Result<HttpClient, WebhookError> {
    let mut http = HttpConnector::new_with_resolver(Public { allow_private });
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(KEEP_ALIVE));
    http.set_keepalive_interval(Some(KEEP_ALIVE));
    http.set_keepalive_retries(Some(KEEP_ALIVE_TRIES));
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(tls::client_config()?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new()).pool_max_idle_per_host(max_idle);
    Ok(client.build(BoundedConnector(https)))
}

const REFUSED: &str =
    "the address is private, local or otherwise special; the setting events.allow_private_targets is off";

fn outcome(answer: &Response<Incoming>) -> Outcome {
    let status = answer.status();
    match status.as_u16() {
        GONE => Outcome::Gone,
        number if status.is_success() => Outcome::Delivered(Some(number)),
        number => Outcome::Failed {
            status: Some(number),
            error: format!("the target answered {status}"),
        },
    }
}

async fn rest(mut answer: Response<Incoming>) {
    let mut read = 0;
    while read < MAX_ANSWER_BYTES
        && let Some(Ok(frame)) = answer.frame().await
    {
        read += frame.data_ref().map_or(0, Bytes::len);
    }
}

/// An error with its causes in one line. None of them names the URL, whose query may hold a token.
fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text.chars().filter(|c| !c.is_control()).take(MAX_ERROR_CHARS).collect()
}

/// Resolves names, and refuses a name if one of its addresses is not public. The client connects to what it returns.
#[derive(Debug, Clone)]
struct Public {
    allow_private: bool,
}

impl Service<Name> for Public {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found: Vec<SocketAddr> = lookup_host((name.as_str(), 0)).await?.collect();
            if !allow_private && !found.iter().all(|address| is_public(address.ip())) {
                return Err(io::Error::other(REFUSED));
            }
            Ok(found.into_iter())
        })
    }
}
