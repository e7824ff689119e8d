//! The link to one server. It connects at first use, shares its connections, and leaves one that fails.
//!
//! redis-rs' `ConnectionManager` is not used: it fails the first call after a loss, and keeps a connection whose
//! answers merely stopped. Here the caller reports a bad connection, and the next call opens another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, Value};

use super::address;
use super::error::{Failure, is_demoted};
use super::lane::{Lane, LinkMark, OwnLanes, Via};

/// Calls that may wait for one connection's socket. Further callers wait themselves.
const PIPELINE_BUFFER: usize = 4096;

/// Time limits of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// To open a connection, handshake included.
    pub(super) connect: Duration,
    /// For one answer.
    pub(super) response: Duration,
    /// For a call with all its retries.
    pub(super) total: Duration,
}

/// The link to one server.
pub(super) struct Link {
    /// Address for messages, without credentials.
    node: Arc<str>,
    client: Client,
    config: AsyncConnectionConfig,
    /// Where the tasks of shared connections run: the runtime that opened the store. On a caller's runtime, the first
    /// worker thread that stops would end everyone's connection.
    home: tokio::runtime::Handle,
    /// For single commands.
    plain: Lane,
    /// For commands sent together. A WAIT delays everything after it on its connection. It must not delay reads and the
    /// health watcher while a replica is away.
    together: Lane,
    mark: LinkMark,
    /// Whether the server's last report had no connected replica.
    alone: AtomicBool,
}

impl Link {
    pub(super) fn new(client: Client, limits: Limits) -> Self {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(limits.connect))
            .set_response_timeout(Some(limits.response))
            .set_pipeline_buffer_size(PIPELINE_BUFFER);
        Self::with(client, config, tokio::runtime::Handle::current())
    }

    /// A link to another node, with the same credentials, limits and home.
    pub(super) fn sibling(&self, host: &str, port: u16) -> Result<Self, RedisError> {
        let client = address::sibling(&self.client, host, port)?;
        Ok(Self::with(client, self.config.clone(), self.home.clone()))
    }

    fn with(client: Client, config: AsyncConnectionConfig, home: tokio::runtime::Handle) -> Self {
        let node = client.get_connection_info().addr().to_string().into();
        Self {
            node,
            client,
            config,
            home,
            plain: Lane::default(),
            together: Lane::default(),
            mark: LinkMark::default(),
            alone: AtomicBool::default(),
        }
    }

    /// Whether the server's last report had no connected replica.
    pub(super) fn is_alone(&self) -> bool {
        self.alone.load(Ordering::Relaxed)
    }

    /// Remembers whether a replica is connected.
    pub(super) fn set_alone(&self, alone: bool) {
        self.alone.store(alone, Ordering::Relaxed);
    }

    /// `host:port` or the socket's path.
    pub(super) fn node(&self) -> &Arc<str> {
        &self.node
    }

    /// The host of the address, if it has one.
    pub(super) fn host(&self) -> Option<&str> {
        address::host(&self.client)
    }

    /// Sends one command over the shared connection and returns its answer; an error answer is an `Err`.
    pub(super) async fn send(&self, command: &Cmd) -> Result<Value, Failure> {
        self.send_via(Via::Shared, command).await
    }

    /// Sends one command and returns its answer; an error answer is an `Err`.
    pub(super) async fn send_via(&self, via: Via, command: &Cmd) -> Result<Value, Failure> {
        let own = self.own(via);
        let lane = own.as_ref().map_or(&self.plain, |own| own.single(via));
        self.send_on(lane, via, command).await
    }

    /// Sends one command like [`send_via`](Self::send_via), if its connection is open. Ends within the response limit.
    pub(super) async fn send_if_open(&self, via: Via, command: &Cmd) -> Option<Result<Value, Failure>> {
        let own = self.own(via);
        let lane = own.as_ref().map_or(&self.plain, |own| own.single(via));
        let connection = lane.current.load_full()?;
        let answer = MultiplexedConnection::clone(&connection)
            .send_packed_command(command)
            .await;
        Some(self.judge(lane, &connection, answer.and_then(Value::extract_error)))
    }

    /// Sends commands together on one connection. Returns the answer of each, errors among them as values. `key`
    /// decides their slot.
    pub(super) async fn send_all(
        &self,
        via: Via,
        key: Option<&[u8]>,
        pipeline: &Pipeline,
    ) -> Result<Vec<Value>, Failure> {
        let own = self.own(via);
        let lane = own.as_ref().map_or(&self.together, |own| own.together(key));
        self.send_all_on(lane, via, pipeline).await
    }

    /// Sends two commands where [`send_via`](Self::send_via) sends one, so that they keep their order among single
    /// commands. Returns the answer to the second.
    pub(super) async fn send_behind(&self, via: Via, first: &Cmd, second: &Cmd) -> Result<Value, Failure> {
        let mut both = Pipeline::with_capacity(2);
        both.add_command(first.clone()).add_command(second.clone());
        let own = self.own(via);
        let lane = own.as_ref().map_or(&self.plain, |own| own.single(via));
        let mut answers = self.send_all_on(lane, via, &both).await?;
        let answer = answers.pop().unwrap_or(Value::Nil);
        answer.extract_error().map_err(|source| self.failure(source))
    }

    /// Sends commands that only read over the shared connection for single commands, which no WAIT delays. Returns the
    /// answer of each, errors among them as values.
    pub(super) async fn read_all(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Failure> {
        self.send_all_on(&self.plain, Via::Shared, pipeline).await
    }

    /// The calling thread's own connections, unless the request goes over a shared one.
    fn own(&self, via: Via) -> Option<Arc<OwnLanes>> {
        (via != Via::Shared).then(|| OwnLanes::of(&self.mark))
    }

    async fn send_on(&self, lane: &Lane, via: Via, command: &Cmd) -> Result<Value, Failure> {
        let connection = self.connection(lane, via).await?;
        let answer = MultiplexedConnection::clone(&connection)
            .send_packed_command(command)
            .await;
        self.judge(lane, &connection, answer.and_then(Value::extract_error))
    }

    async fn send_all_on(&self, lane: &Lane, via: Via, pipeline: &Pipeline) -> Result<Vec<Value>, Failure> {
        let connection = self.connection(lane, via).await?;
        let answer = MultiplexedConnection::clone(&connection)
            .send_packed_commands(pipeline, 0, pipeline.len())
            .await;
        // Among several answers the refusal by a replica is a value, and still calls for another connection.
        let demoted =
            |answer: &Value| matches!(answer, Value::ServerError(error) if is_demoted(error.code(), error.details()));
        if answer.as_ref().is_ok_and(|answers| answers.iter().any(demoted)) {
            lane.leave(&connection);
        }
        self.judge(lane, &connection, answer)
    }

    /// Adds the node's name to a failure.
    pub(super) fn failure(&self, source: RedisError) -> Failure {
        Failure::Redis {
            node: Arc::clone(&self.node),
            source,
        }
    }

    /// Leaves the connection after a failure that it may have caused. Calls in flight on it are not cut off.
    fn judge<T>(
        &self,
        lane: &Lane,
        used: &Arc<MultiplexedConnection>,
        answer: Result<T, RedisError>,
    ) -> Result<T, Failure> {
        answer.map_err(|source| {
            if matches!(source.kind(), ErrorKind::Io | ErrorKind::Parse)
                || source.code().is_some_and(|code| is_demoted(code, source.detail()))
            {
                lane.leave(used);
            }
            self.failure(source)
        })
    }

    async fn connection(&self, lane: &Lane, via: Via) -> Result<Arc<MultiplexedConnection>, Failure> {
        match lane.current.load_full() {
            Some(connection) => Ok(connection),
            None => self.opened(lane, via).boxed().await,
        }
    }

    /// Opens the connection, unless another caller has opened it meanwhile.
    async fn opened(&self, lane: &Lane, via: Via) -> Result<Arc<MultiplexedConnection>, Failure> {
        let asked_at = Instant::now();
        let mut last_failure = lane.connecting.lock().await;
        if let Some(connection) = lane.current.load_full() {
            return Ok(connection);
        }
        // An attempt that began after this request failed while it waited. Otherwise, with a frozen server, each of a
        // thousand callers would wait for a connect timeout of its own, one after the other.
        if let Some((began_at, failure)) = last_failure.as_ref()
            && *began_at >= asked_at
        {
            return Err(failure.clone());
        }
        let began_at = Instant::now();
        match self.connect(via).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                lane.current.store(Some(Arc::clone(&connection)));
                *last_failure = None;
                Ok(connection)
            }
            Err(source) => {
                let failure = Failure::Connect {
                    node: Arc::clone(&self.node),
                    source,
                };
                *last_failure = Some((began_at, failure.clone()));
                Err(failure)
            }
        }
    }

    async fn connect(&self, via: Via) -> Result<MultiplexedConnection, RedisError> {
        if via != Via::Shared {
            return self
                .client
                .get_multiplexed_async_connection_with_config(&self.config)
                .await;
        }
        let (client, config) = (self.client.clone(), self.config.clone());
        let connecting = self
            .home
            .spawn(async move { client.get_multiplexed_async_connection_with_config(&config).await });
        match connecting.await {
            Ok(connected) => connected,
            Err(stopped) => Err(std::io::Error::new(std::io::ErrorKind::NotConnected, stopped).into()),
        }
    }
}
