//! The protocol of a connection: NATS or Kafka.

use std::time::Duration;

use super::{BrokerError, Gap, Message, Opened, Read, Reader, Record, Sent, record};
use jackpot_kernel::settings::{BrokerKind, Connection};

#[path = "kafka.rs"]
mod kafka;
#[path = "nats.rs"]
mod nats;
#[path = "tls.rs"]
mod tls;

/// For an answer of a broker.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Protocol(Client);

#[derive(Debug)]
enum Client {
    Nats(Box<nats::Nats>),
    Kafka(Box<kafka::Kafka>),
}

impl Protocol {
    pub(super) fn new(settings: Connection) -> Self {
        Self(match settings.kind {
            BrokerKind::Nats => Client::Nats(Box::new(nats::Nats::new(settings))),
            BrokerKind::Kafka => Client::Kafka(Box::new(kafka::Kafka::new(settings))),
        })
    }

    pub(super) async fn send(&self, topic: &str, messages: &[Message]) -> Sent {
        match &self.0 {
            Client::Nats(nats) => nats.send(topic, messages).await,
            Client::Kafka(kafka) => kafka.send(topic, messages).await,
        }
    }

    pub(super) async fn lanes(&self, topic: &str) -> Result<Vec<String>, BrokerError> {
        match &self.0 {
            Client::Nats(nats) => nats.check(topic).await.map(|()| vec![nats::LANE.to_owned()]),
            Client::Kafka(kafka) => kafka.lanes(topic).await,
        }
    }

    pub(super) async fn read(
        &self,
        topic: &str,
        lane: &str,
        from: Option<i64>,
        after_failure: bool,
    ) -> Result<Opened, BrokerError> {
        match &self.0 {
            Client::Nats(nats) => nats.read(topic, from, after_failure).await,
            Client::Kafka(kafka) => kafka.read(topic, lane, from).await,
        }
    }
}

/// A lane that is being read.
pub(super) struct Source(Lane);

enum Lane {
    Nats(Box<nats::Lane>),
    Kafka(Box<kafka::Lane>),
}

impl From<nats::Lane> for Source {
    fn from(lane: nats::Lane) -> Self {
        Self(Lane::Nats(Box::new(lane)))
    }
}

impl From<kafka::Lane> for Source {
    fn from(lane: kafka::Lane) -> Self {
        Self(Lane::Kafka(Box::new(lane)))
    }
}

impl Source {
    pub(super) async fn next(&mut self) -> Result<Read, BrokerError> {
        match &mut self.0 {
            Lane::Nats(lane) => lane.next().await,
            Lane::Kafka(lane) => lane.next().await,
        }
    }
}

/// The pass of a message out of its headers. With two it would be unclear which counts, so they are an invalid one, as
/// over HTTP.
fn one_pass(mut passes: impl Iterator<Item = String>) -> Option<String> {
    let first = passes.next();
    passes.next().map_or(first, |_| Some(String::new()))
}
