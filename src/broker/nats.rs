//! NATS with `JetStream`.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::RetentionPolicy;
use async_nats::jetstream::{self, Context, stream};
use async_nats::{ConnectOptions, Event, HeaderMap};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::record::{Source, one_pass};
use super::{BrokerError, Gap, Message, Opened, Reader, Record, Sent, TIMEOUT, tls};
use crate::settings::{Connection, Tls};

/// The only lane of a subject.
pub(super) const LANE: &str = "0";

/// Header with the pass of a player.
const PASS: &str = "X-Room-Pass";

/// Messages that the server sends before it is asked again.
const BATCH: usize = 500;

/// How long a request for messages is open at the server.
const OPEN: Duration = Duration::from_secs(30);

/// The server says so often that it lives; twice nothing is a failure.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How long to wait for a first message.
const MOMENT: Duration = Duration::from_secs(1);

/// After which the server forgets a consumer that nobody asks.
const FORGOTTEN: Duration = Duration::from_mins(1);

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

    /// Whether a stream keeps the subject.
    pub(super) async fn check(&self, subject: &str) -> Result<(), BrokerError> {
        self.stream(subject).await.map(drop)
    }

    async fn stream(&self, subject: &str) -> Result<stream::Stream, BrokerError> {
        let connected = self.connected.get_or_try_init(|| connect(&self.settings)).await?;
        if *connected.down.borrow() {
            return Err(BrokerError::new(NOT_CONNECTED));
        }
        let name = connected.context.stream_by_subject(subject).await;
        let name = name.map_err(|error| BrokerError(format!("no stream that keeps the subject {subject}: {error}")))?;
        let stream = connected.context.get_stream(&name).await.map_err(BrokerError::new)?;
        let retention = stream.cached_info().config.retention;
        if retention != RetentionPolicy::Limits {
            return Err(BrokerError(format!(
                "the stream {name} drops what consumers have seen: its retention must be limits"
            )));
        }
        Ok(stream)
    }

    /// A consumer of its own for each reader. It acknowledges nothing: the reader keeps its position elsewhere, and a message
    /// that were sent again later would come after its successors.
    pub(super) async fn read(&self, subject: &str, from: Option<i64>) -> Result<Opened, BrokerError> {
        let stream = self.stream(subject).await?;
        let state = &stream.cached_info().state;
        let number = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
        let first = number(state.first_sequence).max(1);
        let gap = Gap::of(from, first, number(state.last_sequence).saturating_add(1));
        let begin = gap.map(|gap| gap.begins).or(from).unwrap_or(first);
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: u64::try_from(begin).unwrap_or(1),
            },
            ack_policy: AckPolicy::None,
            filter_subject: subject.to_owned(),
            inactive_threshold: FORGOTTEN,
            num_replicas: 1,
            memory_storage: true,
            ..pull::Config::default()
        };
        let opened = async {
            let consumer = stream.create_consumer(config).await.map_err(BrokerError::new)?;
            let messages = consumer.stream().max_messages_per_batch(BATCH).expires(OPEN);
            messages.heartbeat(HEARTBEAT).messages().await.map_err(BrokerError::new)
        };
        let messages = timeout(TIMEOUT, opened).await;
        let messages = messages.map_err(|_| BrokerError::new("no answer in time"))??;
        let lane = Lane { messages, came: 0 };
        Ok(Opened {
            reader: Reader(Source::Nats(Box::new(lane))),
            gap,
        })
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

/// A subject that is being read.
pub(super) struct Lane {
    messages: pull::Stream,
    /// Messages of this consumer so far.
    came: u64,
}

impl Lane {
    pub(super) async fn next(&mut self) -> Result<Vec<Record>, BrokerError> {
        let Ok(first) = timeout(MOMENT, self.messages.next()).await else {
            return Ok(Vec::new());
        };
        let mut records = vec![self.record(first)?];
        while records.len() < BATCH {
            let Some(next) = self.messages.next().now_or_never() else {
                break;
            };
            // What came before counts; the error comes again with the next call, or the stream has ended.
            match self.record(next) {
                Ok(record) => records.push(record),
                Err(_) => break,
            }
        }
        Ok(records)
    }

    /// Nothing is sent twice to this consumer, so a number that is missing was lost on its way.
    fn record(&mut self, next: Option<Result<jetstream::Message, pull::MessagesError>>) -> Result<Record, BrokerError> {
        let message = next.ok_or_else(|| BrokerError::new("the consumer ended"))?;
        let message = message.map_err(BrokerError::new)?;
        let info = message.info().map_err(BrokerError::new)?;
        if info.consumer_sequence != self.came + 1 {
            return Err(BrokerError::new("a message was lost on its way"));
        }
        self.came += 1;
        // Names are compared as over HTTP and in Kafka: without case.
        let headers = |wanted: &'static str| {
            let all = message.headers.iter().flat_map(HeaderMap::iter);
            let own = all.filter(move |(name, _)| AsRef::<str>::as_ref(*name).eq_ignore_ascii_case(wanted));
            own.flat_map(|(_, values)| values)
                .map(|value| value.as_str().to_owned())
        };
        Ok(Record {
            position: i64::try_from(info.stream_sequence).map_err(BrokerError::new)?,
            key: headers(KEY).next(),
            pass: one_pass(headers(PASS)),
            at_ms: info.published.unix_timestamp().saturating_mul(1_000),
            after: info.pending,
            content: message.payload.clone(),
        })
    }
}
