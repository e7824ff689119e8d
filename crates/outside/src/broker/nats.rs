//! NATS with `JetStream`.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::context::{ContextBuilder, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::{RawMessage, RetentionPolicy};
use async_nats::jetstream::{self, Context, ErrorCode, stream};
use async_nats::{ConnectOptions, Event, HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::{FutureExt, StreamExt};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;
use tracing::warn;

use super::{BrokerError, Gap, Message, Opened, Read, Reader, Record, Sent, TIMEOUT, one_pass, tls};
use jackpot_kernel::settings::{Connection, Tls};

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

/// Messages that are read one by one after a failure, and so many again after each that the client could not have read.
const ONE_BY_ONE: usize = 100;

/// Bytes of their contents, before they are passed on.
const ONE_BY_ONE_BYTES: usize = 8 << 20;

const NOT_CONNECTED: &str = "not connected";
const LOST: &str = "a message was lost on its way";
const LINK_LOST: &str = "the connection was lost";

/// What is wrong with headers.
const WRONG_HEADERS: &str = "must be NATS/1.0 and lines of a name, a colon and a value, in UTF-8";

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
    link: watch::Receiver<Link>,
}

/// The client's connection.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    is_down: bool,
    /// How often it was lost, with what was on it.
    losses: u64,
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
        self.connected().await?.stream(subject).await.map(drop)
    }

    async fn connected(&self) -> Result<&Connected, BrokerError> {
        self.connected.get_or_try_init(|| connect(&self.settings)).await
    }

    /// A consumer of its own for each reader. It acknowledges nothing: the reader keeps its position elsewhere, and a message
    /// that were sent again later would come after its successors. What it has sent counts as delivered, also when the
    /// connection lost it: so a lane does not outlive a connection.
    pub(super) async fn read(
        &self,
        subject: &str,
        from: Option<i64>,
        after_failure: bool,
    ) -> Result<Opened, BrokerError> {
        let connected = self.connected().await?;
        let losses = connected.link.borrow().losses;
        let stream = connected.stream(subject).await?;
        let state = &stream.cached_info().state;
        let number = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
        let first = number(state.first_sequence).max(1);
        let gap = Gap::of(from, first, number(state.last_sequence).saturating_add(1));
        let mut begin = gap.map(|gap| gap.begins).or(from).unwrap_or(first);
        let mut first = if after_failure {
            let name = &stream.cached_info().config.name;
            connected.one_by_one(name, subject, begin).await
        } else {
            Vec::new()
        };
        if let Some(last) = first.last() {
            begin = last.position.saturating_add(1);
        }
        let consumer = timeout(TIMEOUT, stream.create_consumer(consumer_from(begin, subject))).await;
        let consumer = consumer.map_err(no_answer)?.map_err(BrokerError::new)?;
        let messages = consumer.stream().max_messages_per_batch(BATCH).expires(OPEN);
        let messages = timeout(TIMEOUT, messages.heartbeat(HEARTBEAT).messages()).await;
        let messages = messages.map_err(no_answer)?.map_err(BrokerError::new)?;
        let mut waiting = consumer.cached_info().num_pending;
        for record in first.iter_mut().rev() {
            record.after = waiting;
            waiting += 1;
        }
        let lane = Lane {
            first,
            consumer,
            messages,
            came: 0,
            missed_after: None,
            link: connected.link.clone(),
            losses,
        };
        Ok(Opened {
            reader: Reader(lane.into()),
            gap,
            waiting,
        })
    }

    async fn send_one(&self, subject: &str, message: &Message) -> Result<(), BrokerError> {
        let connected = self.connected().await?;
        let mut link = connected.link.clone();
        let Link { is_down, losses } = *link.borrow_and_update();
        // The client would keep the message and send it later, when the caller has long begun to try again.
        if is_down {
            return Err(BrokerError::new(NOT_CONNECTED));
        }
        let publish = PublishMessage::build()
            .payload(message.content.clone())
            .header(CONTENT_TYPE, message.content_type)
            .header(KEY, message.key.as_str())
            .message_id(&message.id);
        let acknowledged = async {
            let sent = connected.context.send_publish(subject.to_owned(), publish).await;
            sent.map_err(|error| not_sent(&error))?
                .await
                .map_err(|error| not_sent(&error))
        };
        // A repeat that the server knows is acknowledged as a duplicate.
        tokio::select! {
            acknowledged = timeout(TIMEOUT, acknowledged) => acknowledged.map_err(no_answer)?.map(|_| ()),
            // No answer comes over the next connection.
            _ = link.wait_for(|link| link.losses != losses) => Err(BrokerError::new(LINK_LOST)),
        }
    }
}

impl Connected {
    async fn stream(&self, subject: &str) -> Result<stream::Stream, BrokerError> {
        if self.link.borrow().is_down {
            return Err(BrokerError::new(NOT_CONNECTED));
        }
        let name = self.context.stream_by_subject(subject).await;
        let name =
            name.map_err(|error| BrokerError::new(format!("no stream that keeps the subject {subject}: {error}")))?;
        let stream = self.context.get_stream(&name).await.map_err(BrokerError::new)?;
        let retention = stream.cached_info().config.retention;
        if retention != RetentionPolicy::Limits {
            return Err(BrokerError::new(format!(
                "the stream {name} drops what consumers have seen: its retention must be limits"
            )));
        }
        Ok(stream)
    }

    /// The messages of a stream and subject from this position on, by requests whose answers have headers as Base64: the client
    /// ends the connection at a message whose headers it can't parse, and takes one with a status for an answer of the server.
    async fn one_by_one(&self, stream: &str, subject: &str, from: i64) -> Vec<Record> {
        let (mut records, mut next, mut bytes, mut most) = (Vec::new(), from, 0, ONE_BY_ONE);
        while records.len() < most.min(BATCH) && bytes < ONE_BY_ONE_BYTES {
            let record = match self.at_or_after(stream, subject, next).await {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    warn!(stream, position = next, %error,
                        "a message can't be read by itself (it needs the right to publish to $JS.API.STREAM.MSG.GET)");
                    break;
                }
            };
            next = record.position.saturating_add(1);
            bytes += record.content.len();
            if record.wrong_headers.is_some() {
                most = records.len() + 1 + ONE_BY_ONE;
            }
            records.push(record);
        }
        records
    }

    async fn at_or_after(&self, stream: &str, subject: &str, from: i64) -> Result<Option<Record>, BrokerError> {
        let wanted = json!({"seq": from, "next_by_subj": subject});
        let answer = self.context.request(format!("STREAM.MSG.GET.{stream}"), &wanted);
        let Found { message } = match answer.await.map_err(BrokerError::new)? {
            Response::Ok(found) => found,
            Response::Err { error } if error.error_code() == ErrorCode::NO_MESSAGE_FOUND => return Ok(None),
            Response::Err { error } => return Err(BrokerError::new(error)),
        };
        let decoded = |text: &str| STANDARD.decode(text).map_err(BrokerError::new);
        let headers = message.headers.as_deref().map(decoded).transpose()?;
        let fields = headers.as_deref().map_or(Some(Vec::new()), fields);
        let fields = fields.as_deref();
        let of = |wanted| {
            values(
                fields
                    .unwrap_or_default()
                    .iter()
                    .map(|(name, value)| (*name, value.as_str())),
                wanted,
            )
        };
        Ok(Some(Record {
            position: i64::try_from(message.sequence).map_err(BrokerError::new)?,
            key: of(KEY).next(),
            pass: one_pass(of(PASS)),
            at_ms: message.time.unix_timestamp().saturating_mul(1_000),
            content: decoded(&message.payload)?.into(),
            wrong_headers: fields.is_none().then_some(WRONG_HEADERS),
            // Known when a consumer begins after these.
            after: 0,
        }))
    }
}

/// An answer to `STREAM.MSG.GET`.
#[derive(Deserialize)]
struct Found {
    message: RawMessage,
}

/// The headers of a message, as the client parses them: a line that begins with white space goes on with the value before. `None`
/// for what the client can't parse. A status in the first line is a publisher's, and means nothing.
fn fields(headers: &[u8]) -> Option<Vec<(&str, String)>> {
    let mut lines = std::str::from_utf8(headers).ok()?.lines();
    lines.next().filter(|first| first.starts_with("NATS/1.0"))?;
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if line.starts_with(char::is_whitespace)
            && let Some((_, value)) = fields.last_mut()
        {
            value.push_str(line);
            continue;
        }
        let (name, value) = line.split_once(':')?;
        name.parse::<HeaderName>().ok()?;
        fields.push((name, value.to_owned()));
    }
    for (_, value) in &mut fields {
        *value = value.trim().to_owned();
    }
    Some(fields)
}

/// The values of a header. Names are compared as over HTTP and in Kafka: without case.
fn values<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>, wanted: &'static str) -> impl Iterator<Item = String> {
    let own = fields.filter(move |(name, _)| name.eq_ignore_ascii_case(wanted));
    own.map(|(_, value)| value.to_owned())
}

fn consumer_from(begin: i64, subject: &str) -> pull::Config {
    pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: u64::try_from(begin).unwrap_or(1),
        },
        ack_policy: AckPolicy::None,
        filter_subject: subject.to_owned(),
        inactive_threshold: FORGOTTEN,
        num_replicas: 1,
        memory_storage: true,
        ..pull::Config::default()
    }
}

fn no_answer<E>(_: E) -> BrokerError {
    BrokerError::new("no answer in time")
}

/// Too large for the server, or for the stream.
fn not_sent(error: &PublishError) -> BrokerError {
    let of_stream =
        std::error::Error::source(error).and_then(<dyn std::error::Error>::downcast_ref::<jetstream::Error>);
    let is_too_large = error.kind() == PublishErrorKind::MaxPayloadExceeded
        || of_stream.is_some_and(|error| error.error_code() == ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM);
    BrokerError {
        text: error.to_string(),
        is_too_large,
    }
}

async fn connect(settings: &Connection) -> Result<Connected, BrokerError> {
    let (set_link, link) = watch::channel(Link::default());
    let mut options = ConnectOptions::new()
        .name("jackpot")
        .event_callback(move |event| {
            match event {
                Event::Connected => set_link.send_modify(|link| link.is_down = false),
                Event::Disconnected | Event::Closed => set_link.send_modify(|link| {
                    link.is_down = true;
                    link.losses += 1;
                }),
                _ => {}
            }
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
        options = with.map_err(|error| BrokerError::new(format!("{file}: {error}")))?;
    }
    let client = timeout(TIMEOUT, options.connect(&settings.servers)).await;
    let client = client
        .map_err(|_| BrokerError::new("no connection in time"))?
        .map_err(BrokerError::new)?;
    let context = ContextBuilder::new()
        .timeout(TIMEOUT)
        .ack_timeout(TIMEOUT)
        .build(client);
    Ok(Connected { context, link })
}

/// A subject that is being read.
pub(super) struct Lane {
    /// Messages that were read one by one. They come first.
    first: Vec<Record>,
    consumer: Consumer<pull::Config>,
    messages: pull::Stream,
    /// Messages of this consumer so far.
    came: u64,
    /// So many had come when the server last said that it had sent more.
    missed_after: Option<u64>,
    link: watch::Receiver<Link>,
    /// Losses of the connection before the lane was opened.
    losses: u64,
}

impl Lane {
    pub(super) async fn next(&mut self) -> Result<Read, BrokerError> {
        if !self.first.is_empty() {
            return Ok(Read::Messages(std::mem::take(&mut self.first)));
        }
        let losses = self.losses;
        let first = tokio::select! {
            // What came before a loss counts.
            biased;
            first = timeout(MOMENT, self.messages.next()) => first,
            _ = self.link.wait_for(|link| link.losses != losses) => return Err(BrokerError::new(LINK_LOST)),
        };
        let Ok(first) = first else {
            return self.look().await.map(Read::Waiting);
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
        Ok(Read::Messages(records))
    }

    /// Nothing came for a moment. Returns how many messages the server has for this lane.
    async fn look(&mut self) -> Result<u64, BrokerError> {
        let info = timeout(TIMEOUT, self.consumer.get_info()).await;
        let info = info.map_err(no_answer)?.map_err(BrokerError::new)?;
        let missed = info.delivered.consumer_sequence.saturating_sub(self.came);
        // A message may be on its way at the first look. At the second one it was lost, or the client took it for an answer.
        let before = self.missed_after.take();
        if missed > 0 {
            if before == Some(self.came) {
                return Err(BrokerError::new(LOST));
            }
            self.missed_after = Some(self.came);
        }
        Ok(info.num_pending + missed)
    }

    /// Nothing is sent twice to this consumer, so a number that is missing was lost on its way.
    fn record(&mut self, next: Option<Result<jetstream::Message, pull::MessagesError>>) -> Result<Record, BrokerError> {
        let message = next.ok_or_else(|| BrokerError::new("the consumer ended"))?;
        let message = message.map_err(BrokerError::new)?;
        let info = message.info().map_err(BrokerError::new)?;
        if info.consumer_sequence != self.came + 1 {
            return Err(BrokerError::new(LOST));
        }
        self.came += 1;
        let of = |wanted| {
            let all = message.headers.iter().flat_map(HeaderMap::iter);
            let fields = all.flat_map(|(name, values)| values.iter().map(move |value| (name.as_ref(), value.as_str())));
            values(fields, wanted)
        };
        Ok(Record {
            position: i64::try_from(info.stream_sequence).map_err(BrokerError::new)?,
            key: of(KEY).next(),
            pass: one_pass(of(PASS)),
            at_ms: info.published.unix_timestamp().saturating_mul(1_000),
            after: info.pending,
            content: message.payload.clone(),
            wrong_headers: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_of_names_and_values() {
        let read = fields(b"NATS/1.0\r\nJackpot-Key: a:b \r\nX: 1\r\n 2\r\n\r\n").expect("headers");
        assert_eq!(read, [("Jackpot-Key", "a:b".to_owned()), ("X", "1 2".to_owned())]);
        assert_eq!(fields(b"NATS/1.0 404 No\r\n\r\n").expect("a status of a publisher"), []);
        for wrong in [
            &b"NATS/1.0\r\nbad header\r\n\r\n"[..],
            b"NATS/1.0\r\na b: 1\r\n\r\n",
            b"NATS/1.0\r\nX: \xff\r\n\r\n",
            b"HTTP/1.1\r\nX: 1\r\n\r\n",
            b"",
        ] {
            assert_eq!(fields(wrong), None, "{wrong:?}");
        }
    }
}
