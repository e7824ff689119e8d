//! Brokers that settings name: NATS with `JetStream`, and Kafka. Messages go out in order, and each is on the broker's
//! disk when it counts as sent. Messages come in by lanes, each from a position on.

use bytes::Bytes;

use jackpot_kernel::settings::Connection;

mod record;

#[cfg(not(feature = "brokers"))]
#[path = "absent.rs"]
mod protocol;
#[cfg(feature = "brokers")]
mod protocol;

use protocol::Protocol;
pub use record::{Gap, Opened, Read, Reader, Record};

#[derive(Debug, Clone)]
pub struct Message {
    /// The broker drops a repeat of it where it can (NATS: `Nats-Msg-Id`).
    pub id: String,
    /// Messages with the same key stay in order (Kafka: they share a partition).
    pub key: String,
    /// Media type of the content.
    pub content_type: &'static str,
    pub content: Bytes,
}

/// Why a broker did not take a message.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct BrokerError {
    text: String,
    /// The message is larger than the broker takes: it fails again each time.
    pub is_too_large: bool,
}

impl BrokerError {
    #[expect(clippy::needless_pass_by_value, reason = "it is a function for `map_err`")]
    fn new(error: impl ToString) -> Self {
        let (text, is_too_large) = (error.to_string(), false);
        Self { text, is_too_large }
    }
}

/// How far a broker took messages, which it takes in order.
#[derive(Debug)]
pub struct Sent {
    /// So many are durable, from the first on.
    pub count: usize,
    /// Why not all. The broker may have the next one nevertheless: the answer was lost.
    pub stopped: Option<BrokerError>,
}

/// A connection that settings name. It connects when it is used, and again after a failure.
#[derive(Debug)]
pub struct Broker(Protocol);

impl Broker {
    /// Nothing is connected yet.
    pub fn new(settings: Connection) -> Self {
        Self(Protocol::new(settings))
    }

    /// Sends messages to a topic of Kafka, or to a subject of NATS that a stream keeps. The next one goes out after the one
    /// before is durable, so that a failure leaves no gap.
    pub async fn send(&self, topic: &str, messages: &[Message]) -> Sent {
        self.0.send(topic, messages).await
    }

    /// The lanes of a topic: each keeps the order of its messages. Of Kafka its partitions, of NATS one.
    pub async fn lanes(&self, topic: &str) -> Result<Vec<String>, BrokerError> {
        self.0.lanes(topic).await
    }

    /// Reads a lane from this position on; `None`: from the first message that the broker has. `after_failure`: its first messages
    /// may be what made reading fail.
    pub async fn read(
        &self,
        topic: &str,
        lane: &str,
        from: Option<i64>,
        after_failure: bool,
    ) -> Result<Opened, BrokerError> {
        self.0.read(topic, lane, from, after_failure).await
    }
}
