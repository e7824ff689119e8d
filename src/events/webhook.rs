//! Sends one event to a webhook: a signed POST of Standard Webhooks, without redirects, to public addresses alone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use thiserror::Error;
use tokio::net::lookup_host;
use url::Url;

use super::address::is_public;
use super::cloudevent::{self, Message};
use super::key::Key;
use super::sink::{Outcome, Sink};
use super::target::is_private;
use crate::random::RandomError;
use crate::tls;

/// From the begin of the connection to the answer.
const LIMIT: Duration = Duration::from_secs(10);
/// Longest body of an answer that is read, so that its connection can be used again.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Connections without work that are kept for each host.
const MAX_IDLE: usize = 64;
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
    /// The client can't be made.
    #[error("webhooks: {0}")]
    Client(#[from] reqwest::Error),
    /// The system has no randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Sends events. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Webhooks {
    client: Client,
    /// Keeps no connection.
    anew: Client,
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

    async fn post(&self, client: &Client, (url, key): (&Url, &Key), message: &Message) -> Outcome {
        let now_s = Timestamp::now().as_second();
        // A literal address is never resolved.
        if !self.allow_private && is_private(url) {
            return Outcome::failed(REFUSED);
        }
        let id = message.webhook_id();
        let signature = key.sign(&id, now_s, &message.body);
        let sent = client
            .post(url.clone())
            .header(CONTENT_TYPE, cloudevent::CONTENT_TYPE)
            .header("webhook-id", id)
            .header("webhook-timestamp", now_s.to_string())
            .header("webhook-signature", signature)
            .body(message.body.clone())
            .send();
        match sent.await {
            Ok(answer) => outcome(answer).await,
            Err(error) => Outcome::failed(explain(error)),
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
        let target = (&self.url, self.key.as_ref());
        Box::pin(self.webhooks.post(&self.webhooks.client, target, message))
    }

    fn send_anew<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome> {
        let target = (&self.url, self.key.as_ref());
        Box::pin(self.webhooks.post(&self.webhooks.anew, target, message))
    }
}

fn client(allow_private: bool, max_idle: usize) -> Result<Client, WebhookError> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls::client_config()?)
        .dns_resolver(Arc::new(Public { allow_private }))
        .redirect(Policy::none())
        // A proxy of the environment would make the connection, and nobody would check its address.
        .no_proxy()
        .referer(false)
        .timeout(LIMIT)
        .pool_max_idle_per_host(max_idle)
        .tcp_nodelay(true)
        .user_agent(concat!("jackpot/", env!("CARGO_PKG_VERSION")))
        .build()?;
    Ok(client)
}

const REFUSED: &str =
    "the address is private, local or otherwise special; the setting events.allow_private_targets is off";

async fn outcome(mut answer: Response) -> Outcome {
    let status = answer.status();
    let mut read = 0;
    while read < MAX_ANSWER_BYTES {
        match answer.chunk().await {
            Ok(Some(chunk)) => read += chunk.len(),
            // The status has come, and it decides.
            Ok(None) | Err(_) => break,
        }
    }
    match status.as_u16() {
        GONE => Outcome::Gone,
        number if status.is_success() => Outcome::Delivered(Some(number)),
        number => Outcome::Failed {
            status: Some(number),
            error: format!("the target answered {status}"),
        },
    }
}

/// The causes of an error in one line. The URL is left out: its query may hold a token.
fn explain(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", LIMIT.as_secs());
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
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
struct Public {
    allow_private: bool,
}

impl Resolve for Public {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found: Vec<SocketAddr> = lookup_host((name.as_str(), 0)).await?.collect();
            if !allow_private && !found.iter().all(|address| is_public(address.ip())) {
                return Err(REFUSED.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
