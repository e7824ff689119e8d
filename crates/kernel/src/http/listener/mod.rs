//! Accepts connections. This listener is between the socket and the framework. It limits the places, bytes and time
//! that a client can take (docs/decisions/0025).
//!
//! - [`worker`]: the connections of a thread, and which one must go.
//! - [`state`]: what one connection may do.
//! - [`io`]: its bytes.
//! - [`heads`], [`hpack`]: the heads of HTTP/2, counted before they are decoded.
//! - [`exchange`]: its requests, as the envelope sees them.
//! - [`bare`]: answers of the framework itself.
//! - [`tls`], [`validity`]: certificates.

mod bare;
pub(in crate::http) mod exchange;
mod heads;
mod hpack;
mod io;
pub(crate) mod state;
pub(in crate::http) mod tls;
mod validity;
mod worker;

use std::future::poll_fn;
use std::io::Error as IoError;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Protocol};
use actix_server::Server;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::middleware::from_fn;
use actix_web::web::ServiceConfig;
use actix_web::{App, Error};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::addresses::Addresses;
use super::envelope;
use crate::stopping::Stopping;
use crate::telemetry::Metrics;
use io::{Connection, Stream};
use state::{ConnectionState, H2_WINDOW_BYTES};
use worker::{ConnectionSlot, HEAD_TIMEOUT, Shared, Worker};

/// Connections that the system holds until the service accepts them.
const BACKLOG: i32 = 2_048;

/// How long the framework continues to read an unwanted body with a size.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// What a connection of HTTP/2 may send before the service reads any of it.
const H2_CONNECTION_WINDOW_BYTES: u32 = 4 * H2_WINDOW_BYTES;

/// Connections above the limit that a thread has for a moment: accepted, and not closed yet.
const PASSING: usize = 1_024;

/// How long sent data may stay unacknowledged by the client's system, ms: longer than a short gap of a mobile network.
#[cfg(target_os = "linux")]
const UNANSWERED_MS: u32 = 30_000;

/// The options of a listener.
pub(super) struct Options {
    pub(super) workers: usize,
    /// Most connections of all threads together.
    pub(super) max_connections: usize,
    pub(super) keep_alive: Duration,
    pub(super) shutdown_timeout_s: u64,
    /// `None`: plain HTTP.
    pub(super) tls: Option<Arc<rustls::ServerConfig>>,
    /// Limits connections by address; `None`: no such limit.
    pub(super) addresses: Option<Arc<Addresses>>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) stopping: Stopping,
}

/// Takes an address. From here on the system keeps connections until a server accepts them.
pub(super) fn bind(address: SocketAddr) -> Result<TcpListener, IoError> {
    let socket = TcpListener::bind(address)?;
    // The standard library would choose a shorter queue.
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Accepts connections of `socket`. The returned address has the port that the system chose for port 0.
pub(super) fn serve<M>(socket: &TcpListener, options: Options, mount: M) -> Result<(Server, SocketAddr), IoError>
where
    M: Fn(&mut ServiceConfig) + Clone + Send + 'static,
{
    let (socket, address) = (socket.try_clone()?, socket.local_addr()?);
    let shared = Shared {
        limit: options.max_connections.div_ceil(options.workers).max(1),
        keep_alive: options.keep_alive,
        metrics: options.metrics,
        stopping: options.stopping,
    };
    let builder = Server::build();
    let stop = builder.graceful_shutdown_signal();
    let (tls, addresses) = (options.tls.map(TlsAcceptor::from), options.addresses);
    let server = builder
        .workers(options.workers)
        // Accepting never pauses: when the thread is full, the new connection or another one is closed.
        .max_concurrent_connections(shared.limit + PASSING)
        .shutdown_timeout(options.shutdown_timeout_s)
        .disable_signals()
        .listen("http", socket, move || {
            let (stop, mount) = (stop.clone(), mount.clone());
            let app = App::new()
                .wrap(from_fn(envelope::wrap))
                .configure(move |config| mount(config));
            let http = HttpService::build()
                .graceful_shutdown_signal(move || {
                    let stop = stop.clone();
                    async move { stop.notified().await }
                })
                .keep_alive(match tls {
                    // HTTP/2 sends its pings by it.
                    Some(_) => KeepAlive::Timeout(shared.keep_alive),
                    // This thread's sweep ends idle connections. A timer for each answer would do it again.
                    None => KeepAlive::Os,
                })
                .client_request_timeout(HEAD_TIMEOUT)
                .client_disconnect_timeout(DISCONNECT_TIMEOUT)
                // A client that closes a connection reads no answer. So a stream, which holds a place, ends at once.
                .h1_allow_half_closed(false)
                .h2_initial_window_size(H2_WINDOW_BYTES)
                .h2_initial_connection_window_size(H2_CONNECTION_WINDOW_BYTES)
                .local_addr(address)
                .on_connect_ext(|connection: &Connection, extensions| {
                    extensions.insert(Rc::clone(&connection.state));
                    if let Some(connected) = connection.connected() {
                        extensions.insert(connected.clone());
                    }
                })
                .finish(map_config(
                    app.into_factory().map_err(|error: Error| error.error_response()),
                    |()| AppConfig::default(),
                ));
            let gate = Gate {
                worker: Worker::start(&shared),
                tls: tls.clone(),
                addresses: addresses.clone(),
            };
            fn_service(move |stream: TcpStream| gate.clone().open(stream)).and_then(http)
        })?
        .run();
    Ok((server, address))
}

/// The entry of connections on one thread.
#[derive(Clone)]
struct Gate {
    worker: Rc<Worker>,
    tls: Option<TlsAcceptor>,
    addresses: Option<Arc<Addresses>>,
}

impl Gate {
    /// Gives the connection a place, and passes it on with its first bytes. Until then it costs hardly any memory.
    async fn open(self, stream: TcpStream) -> Result<(Connection, Protocol, Option<SocketAddr>), DispatchError> {
        let peer = stream.peer_addr()?;
        let place = self.admit(peer).ok_or_else(gone)?;
        prepare(&stream);
        let state = Rc::clone(&place.state);
        until_killed(&state, stream.readable()).await.ok_or_else(gone)??;
        let (stream, protocol) = match self.tls {
            None => (Stream::Plain(stream), Protocol::Http1),
            Some(acceptor) => {
                let stream = until_killed(&state, acceptor.accept(stream)).await.ok_or_else(gone)?;
                let stream = stream.inspect_err(|error| {
                    self.worker.metrics.connections.closed("tls");
                    tracing::debug!(%peer, %error, "TLS handshake failed");
                })?;
                let http2 = stream.get_ref().1.alpn_protocol() == Some(tls::H2);
                let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
                (Stream::Tls(Box::new(stream)), protocol)
            }
        };
        state.opened(protocol == Protocol::Http2);
        Ok((Connection::new(stream, place), protocol, Some(peer)))
    }

    /// A refused connection is neither read nor answered.
    fn admit(&self, peer: SocketAddr) -> Option<ConnectionSlot> {
        let connected = self.addresses.as_ref().map(|addresses| addresses.connect(peer.ip()));
        let connected = connected.transpose().inspect_err(|refused| {
            self.worker.metrics.connections.closed(refused.as_str());
            tracing::debug!(%peer, reason = refused.as_str(), "connection refused");
        });
        self.worker.admit(peer.ip().to_canonical(), connected.ok()?)
    }
}

fn gone() -> DispatchError {
    DispatchError::Io(std::io::ErrorKind::ConnectionAborted.into())
}

/// The result of `future`, or `None` when the connection must end.
async fn until_killed<F: Future>(state: &ConnectionState, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        state.remember_task(cx);
        if state.is_killed() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

/// Sends answers at once. After a while, gives up data sent to a client whose network has gone. Otherwise the system
/// would try for a quarter of an hour, and a stream would hold a place for as long.
fn prepare(stream: &TcpStream) {
    let nodelay = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let nodelay = nodelay.and(rustix::net::sockopt::set_tcp_user_timeout(stream, UNANSWERED_MS).map_err(IoError::from));
    if let Err(error) = nodelay {
        tracing::debug!(%error, "a connection has no limit of its own");
    }
}
