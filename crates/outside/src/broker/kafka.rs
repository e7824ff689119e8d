//! Kafka, and servers that are compatible with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rskafka::chrono::DateTime;
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};
use rskafka::record::{Record, RecordAndOffset};
use rskafka::{BackoffConfig, client};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{BrokerError, Gap, Message, Opened, Reader, Sent, TIMEOUT, one_pass, record, tls};
use jackpot_kernel::settings::{Connection, Sasl, Tls};

/// Bytes of one request: brokers take a megabyte by default.
const MAX_REQUEST_BYTES: usize = 900_000;

/// Bytes of one answer with messages.
const FETCH_BYTES: Range<i32> = 1..1_000_000;

/// How long the broker waits for a first message, in ms.
const MOMENT_MS: i32 = 500;

/// Header with the pass of a player.
const PASS: &str = "X-Room-Pass";

#[derive(Debug)]
pub(super) struct Kafka {
    settings: Connection,
    connected: Mutex<Option<Arc<Connected>>>,
}

struct Connected {
    client: Client,
    topics: Mutex<HashMap<String, Arc<[PartitionClient]>>>,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connected").finish_non_exhaustive()
    }
}

impl Kafka {
    pub(super) fn new(settings: Connection) -> Self {
        Self {
            settings,
            connected: Mutex::default(),
        }
    }

    pub(super) async fn send(&self, topic: &str, messages: &[Message]) -> Sent {
        let mut count = 0;
        while count < messages.len() {
            let part = part(messages, count);
            let sent = timeout(TIMEOUT, self.send_part(topic, &messages[part.clone()])).await;
            let sent = sent.unwrap_or_else(|_| Err(BrokerError::new("no answer in time")));
            if let Err(error) = sent {
                // The next try connects anew: the topic may have been made again, with other partitions.
                *self.connected.lock().await = None;
                return Sent {
                    count,
                    stopped: Some(error),
                };
            }
            count = part.end;
        }
        Sent { count, stopped: None }
    }

    /// The partitions of a topic, asked anew: there may be more than before.
    pub(super) async fn lanes(&self, topic: &str) -> Result<Vec<String>, BrokerError> {
        let found = async {
            let connected = self.connected().await?;
            let numbers = connected.numbers(topic).await?;
            Ok(numbers.iter().map(ToString::to_string).collect())
        };
        self.in_time(found).await
    }

    pub(super) async fn read(&self, topic: &str, lane: &str, from: Option<i64>) -> Result<Opened, BrokerError> {
        let number: i32 = lane.parse().map_err(BrokerError::new)?;
        let opened = async {
            let connected = self.connected().await?;
            let partition = connected.partition(topic, number).await?;
            let first = partition
                .get_offset(OffsetAt::Earliest)
                .await
                .map_err(BrokerError::new)?;
            let end = partition.get_offset(OffsetAt::Latest).await.map_err(BrokerError::new)?;
            let gap = Gap::of(from, first, end);
            let next = gap.map(|gap| gap.begins).or(from).unwrap_or(first);
            let lane = Lane { partition, next };
            Ok(Opened {
                reader: Reader(lane.into()),
                gap,
                waiting: from_on(next, end),
            })
        };
        self.in_time(opened).await
    }

    /// After a failure the next try connects anew.
    async fn in_time<T>(&self, work: impl Future<Output = Result<T, BrokerError>>) -> Result<T, BrokerError> {
        let done = timeout(TIMEOUT, work).await;
        let done = done.unwrap_or_else(|_| Err(BrokerError::new("no answer in time")));
        if done.is_err() {
            *self.connected.lock().await = None;
        }
        done
    }

    /// All of one key, in one request: the broker takes it whole or not at all.
    async fn send_part(&self, topic: &str, messages: &[Message]) -> Result<(), BrokerError> {
        let Some(first) = messages.first() else { return Ok(()) };
        let partitions = self.connected().await?.partitions(topic).await?;
        let partition = &partitions[partition_of(&first.key, partitions.len())];
        let records = messages.iter().map(record).collect();
        let produced = partition.produce(records, Compression::NoCompression).await;
        produced.map(|_| ()).map_err(|error| BrokerError {
            is_too_large: is_too_large(&error),
            text: error.to_string(),
        })
    }

    async fn connected(&self) -> Result<Arc<Connected>, BrokerError> {
        let mut connected = self.connected.lock().await;
        if let Some(connected) = &*connected {
            return Ok(Arc::clone(connected));
        }
        let client = connect(&self.settings).await?;
        let fresh = Arc::new(Connected {
            client,
            topics: Mutex::default(),
        });
        *connected = Some(Arc::clone(&fresh));
        Ok(fresh)
    }
}

impl Connected {
    /// The numbers of the partitions of a topic.
    async fn numbers(&self, topic: &str) -> Result<BTreeSet<i32>, BrokerError> {
        let all = self.client.list_topics().await.map_err(BrokerError::new)?;
        let found = all.into_iter().find(|found| found.name == topic);
        let found = found.ok_or_else(|| BrokerError::new(format!("there is no topic {topic}")))?;
        Ok(found.partitions)
    }

    async fn partition(&self, topic: &str, number: i32) -> Result<PartitionClient, BrokerError> {
        let made = self
            .client
            .partition_client(topic, number, UnknownTopicHandling::Error)
            .await;
        made.map_err(BrokerError::new)
    }

    async fn partitions(&self, topic: &str) -> Result<Arc<[PartitionClient]>, BrokerError> {
        let mut topics = self.topics.lock().await;
        if let Some(known) = topics.get(topic) {
            return Ok(Arc::clone(known));
        }
        let mut partitions = Vec::new();
        for number in self.numbers(topic).await? {
            partitions.push(self.partition(topic, number).await?);
        }
        if partitions.is_empty() {
            return Err(BrokerError::new(format!("topic {topic} has no partition")));
        }
        let partitions: Arc<[PartitionClient]> = partitions.into();
        topics.insert(topic.to_owned(), Arc::clone(&partitions));
        Ok(partitions)
    }
}

fn is_too_large(error: &client::error::Error) -> bool {
    use client::error::{Error, ProtocolError};
    let Error::ServerError { protocol_error, .. } = error else {
        return false;
    };
    matches!(
        protocol_error,
        ProtocolError::MessageTooLarge | ProtocolError::RecordListTooLarge
    )
}

/// The messages from here on that go in one request: of one key, and not too many bytes.
fn part(messages: &[Message], from: usize) -> Range<usize> {
    let mut bytes = 0;
    let fits = messages[from..].iter().take_while(|message| {
        bytes += message.content.len() + message.key.len() + message.id.len();
        message.key == messages[from].key && bytes <= MAX_REQUEST_BYTES
    });
    // A message that is too large alone goes alone, and the broker says so.
    let count = fits.count().max(1);
    from..from + count
}

/// The partition that librdkafka's `consistent` partitioner chooses.
fn partition_of(key: &str, count: usize) -> usize {
    crc32fast::hash(key.as_bytes()) as usize % count
}

fn record(message: &Message) -> Record {
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    Record {
        key: Some(message.key.as_bytes().to_vec()),
        value: Some(message.content.to_vec()),
        headers: BTreeMap::from([header("content-type", message.content_type), header("id", &message.id)]),
        timestamp: DateTime::from_timestamp_millis(Timestamp::now().as_millisecond()).unwrap_or_default(),
    }
}

async fn connect(settings: &Connection) -> Result<Client, BrokerError> {
    // The caller tries again, by its own times.
    let backoff = BackoffConfig {
        deadline: Some(TIMEOUT / 2),
        max_backoff: Duration::from_secs(1),
        ..BackoffConfig::default()
    };
    let mut builder = ClientBuilder::new(settings.servers.clone())
        .client_id("jackpot")
        .backoff_config(backoff);
    if settings.tls == Tls::On {
        builder = builder.tls_config(Arc::new(tls::config(settings)?));
    }
    if !settings.user.is_empty() {
        let credentials = Credentials::new(settings.user.clone(), settings.password.clone());
        builder = builder.sasl_config(match settings.sasl {
            Sasl::Plain => SaslConfig::Plain(credentials),
            Sasl::ScramSha256 => SaslConfig::ScramSha256(credentials),
            Sasl::ScramSha512 => SaslConfig::ScramSha512(credentials),
        });
    }
    builder.build().await.map_err(BrokerError::new)
}

/// A partition that is being read.
pub(super) struct Lane {
    partition: PartitionClient,
    /// Offset of the next message.
    next: i64,
}

impl Lane {
    pub(super) async fn next(&mut self) -> Result<record::Read, BrokerError> {
        let fetched = timeout(TIMEOUT, self.partition.fetch_records(self.next, FETCH_BYTES, MOMENT_MS)).await;
        let fetched = fetched.map_err(|_| BrokerError::new("no answer in time"))?;
        let (records, end) = fetched.map_err(BrokerError::new)?;
        // A compressed batch may begin before the offset that was asked for.
        let next = self.next;
        let records: Vec<_> = records.into_iter().filter(|one| one.offset >= next).collect();
        let Some(last) = records.last() else {
            return Ok(record::Read::Waiting(from_on(next, end)));
        };
        self.next = last.offset.saturating_add(1);
        let records = records.into_iter().map(|one| received(one, end));
        Ok(record::Read::Messages(records.collect()))
    }
}

/// Messages from this offset on, if the last one is before `end`.
fn from_on(next: i64, end: i64) -> u64 {
    u64::try_from(end.saturating_sub(next)).unwrap_or(0)
}

/// `end`: the offset after the last message of the partition.
fn received(RecordAndOffset { record, offset }: RecordAndOffset, end: i64) -> record::Record {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let passes = record
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(PASS));
    record::Record {
        position: offset,
        key: record.key.as_deref().map(text),
        pass: one_pass(passes.map(|(_, value)| text(value))),
        at_ms: record.timestamp.timestamp_millis(),
        content: record.value.unwrap_or_default().into(),
        wrong_headers: None,
        after: from_on(offset.saturating_add(1), end),
    }
}
