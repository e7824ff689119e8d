//! NATS with `JetStream`.

use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::message::PublishMessage;
use async_nats::{ConnectOptions, Event};
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::{BrokerError, Message, Sent, TIMEOUT, tls};
use crate::settings::{Connection, Tls};

const NOT_CONNECTED: &str = "not connected";

/// Header with the media type of the content.
const CONTENT_TYPE: &str = "Content-Type";

/// Header with the key of a message.
const KEY: &str = "Jackpot-Key";

#[derive(Debug)]
pub(super) struct Nats {
    settings: Connection,
    /// The client keeps its connection, and connects again by itself.
    connected: OnceCell<Connected>,
}

#[derive(Debug)]
struct Connected {
    context: Context,
    /// Whether the connection is down.
    down: watch::Receiver<bool>,
}

impl Nats {
    pub(super) fn new(settings: Connection) -> Self {
        Self {
            settings,
            connected: OnceCell::new(),
        }
    }

    pub(super) async fn send(&self, subject: &str, messages: &[Message]) -> Sent {
        let mut count = 0;
        for message in messages {
            if let Err(error) = self.send_one(subject, message).await {
                return Sent {
                    count,
                    stopped: Some(error),
                };
            }
            count += 1;
        }
        Sent { count, stopped: None }
    }

    async fn send_one(&self, subject: &str, message: &Message) -> Result<(), BrokerError> {
        let connected = self.connected.get_or_try_init(|| connect(&self.settings)).await?;
        let mut down = connected.down.clone();
        // The client would keep the message and send it later, when the caller has long begun to try again.
        if *down.borrow() {
            return Err(BrokerError::new(NOT_CONNECTED));
        }
        let publish = PublishMessage::build()
            .payload(message.content.clone())
            .header(CONTENT_TYPE, message.content_type)
            .header(KEY, message.key.as_str())
            .message_id(&message.id);
        let acknowledged = async {
            let sent = connected.context.send_publish(subject.to_owned(), publish).await;
            sent.map_err(BrokerError::new)?.await.map_err(BrokerError::new)
        };
        // A repeat that the server knows is acknowledged as a duplicate.
        tokio::select! {
            acknowledged = timeout(TIMEOUT, acknowledged) => {
                acknowledged.map_err(|_| BrokerError::new("no answer in time"))?.map(|_| ())
            }
            // No answer comes over the next connection.
            _ = down.wait_for(|down| *down) => Err(BrokerError::new(NOT_CONNECTED)),
        }
    }
}

async fn connect(settings: &Connection) -> Result<Connected, BrokerError> {
    let (set_down, down) = watch::channel(false);
    let mut options = ConnectOptions::new()
        .name("jackpot")
        .event_callback(move |event| {
            match event {
                Event::Connected => set_down.send_replace(false),
                Event::Disconnected | Event::Closed => set_down.send_replace(true),
                _ => false,
            };
            std::future::ready(())
        })
        .connection_timeout(TIMEOUT)
        .request_timeout(Some(TIMEOUT));
    if settings.tls == Tls::On {
        options = options.require_tls(true).tls_client_config(tls::config(settings)?);
    }
    if !settings.user.is_empty() {
        options = options.user_and_password(settings.user.clone(), settings.password.clone());
    } else if !settings.token.is_empty() {
        options = options.token(settings.token.clone());
    } else if !settings.credentials_file.is_empty() {
        let file = &settings.credentials_file;
        let with = options.credentials_file(file).await;
        options = with.map_err(|error| BrokerError(format!("{file}: {error}")))?;
    }
    let client = timeout(TIMEOUT, options.connect(&settings.servers)).await;
    let client = client
        .map_err(|_| BrokerError::new("no connection in time"))?
        .map_err(BrokerError::new)?;
    let context = ContextBuilder::new()
        .timeout(TIMEOUT)
        .ack_timeout(TIMEOUT)
        .build(client);
    Ok(Connected { context, down })
}
