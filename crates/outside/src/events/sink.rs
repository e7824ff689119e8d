//! Where events go: one trait, with an implementation for webhooks and one for the topics of brokers.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::cloudevent::{CONTENT_TYPE, Message};
use super::key::Key;
use super::target::Destination;
use super::webhook::{Webhook, WebhookError, Webhooks};
use crate::broker::{self, Broker};
use jackpot_kernel::settings;

/// What came of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// 2xx of a webhook, with the status; or it is on the broker's disk.
    Delivered(Option<u16>),
    /// 410: the target wants no more.
    Gone,
    /// Anything else. It is tried again.
    Failed {
        /// The answer, if there was one.
        status: Option<u16>,
        error: String,
    },
}

impl Outcome {
    /// A failure without an answer.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::Failed {
            status: None,
            error: error.into(),
        }
    }
}

/// The target of a subscription.
pub trait Sink: Send + Sync {
    /// One try, over a connection that is there, if one is.
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome>;

    /// One try over a new connection: so name, address and certificate are tried as well.
    fn send_anew<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome>;
}

/// Makes the sinks of subscriptions. They share clients and connections.
#[derive(Debug)]
pub struct Sinks {
    webhooks: Webhooks,
    connections: BTreeMap<String, Arc<Connection>>,
}

/// A connection that settings name.
#[derive(Debug)]
struct Connection {
    settings: settings::Connection,
    broker: Broker,
}

impl Sinks {
    /// Connects to nothing yet.
    /// Errors: no TLS.
    pub fn new(settings: &settings::Events) -> Result<Self, WebhookError> {
        let connection = |of: &settings::Connection| Connection {
            settings: of.clone(),
            broker: Broker::new(of.clone()),
        };
        let connections = settings.connections.iter();
        Ok(Self {
            webhooks: Webhooks::new(settings.allow_private_targets)?,
            connections: connections
                .map(|(name, of)| (name.clone(), Arc::new(connection(of))))
                .collect(),
        })
    }

    /// The sink of a target. `key` signs what webhooks get.
    /// Errors: what this instance lacks, for people.
    pub fn of(&self, destination: &Destination, key: Option<Key>) -> Result<Arc<dyn Sink>, String> {
        match destination {
            Destination::Webhook(url) => {
                let key = key.ok_or(NO_SECRET)?;
                Ok(Arc::new(Webhook::new(&self.webhooks, url.clone(), Arc::new(key))))
            }
            Destination::Topic {
                connection,
                kind,
                topic,
            } => {
                let found = self.connections.get(connection);
                let found = found.filter(|found| found.settings.kind == *kind).ok_or_else(|| {
                    format!(
                        "the settings of this instance have no connection events.connections.{connection} of this kind"
                    )
                })?;
                Ok(Arc::new(Topic {
                    connection: Arc::clone(found),
                    topic: topic.clone(),
                }))
            }
        }
    }
}

/// Why nothing can be signed.
const NO_SECRET: &str = "the draw secret that the key of this subscription is derived from is not configured any more: \
                         put the subscription again to give it a new key";

/// A topic of Kafka, or a subject of NATS.
struct Topic {
    connection: Arc<Connection>,
    topic: String,
}

impl Topic {
    async fn publish(&self, broker: &Broker, message: &Message) -> Outcome {
        let message = broker::Message {
            id: message.id.clone(),
            key: message.subject.clone(),
            content_type: CONTENT_TYPE,
            content: message.body.clone().into(),
        };
        match broker.send(&self.topic, &[message]).await.stopped {
            None => Outcome::Delivered(None),
            Some(error) => Outcome::failed(error.to_string()),
        }
    }
}

impl Sink for Topic {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome> {
        Box::pin(self.publish(&self.connection.broker, message))
    }

    fn send_anew<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let anew = Broker::new(self.connection.settings.clone());
            self.publish(&anew, message).await
        })
    }
}
