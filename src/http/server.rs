//! Listening, and stopping without losing an answer.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::{App, HttpServer};
#[cfg(target_os = "linux")]
use rustix::net::sockopt::set_tcp_user_timeout;
#[cfg(target_os = "linux")]
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::routes::{Routes, Table};
use super::{Web, envelope};
use crate::settings::{Http, Settings};
use crate::stopping::Stopping;

/// How long a client may take to send the head of a request; its body has a limit of its own.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the end of a connection may take.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long what was sent may go unanswered by the client's system, ms: longer than a mobile network is away for a moment.
#[cfg(target_os = "linux")]
const UNANSWERED_MS: u32 = 30_000;

/// Connections per worker thread; more wait in the system's queue instead of taking memory here.
const MAX_CONNECTIONS: usize = 10_000;

/// Threads for the metrics listener: one reader now and then.
const METRICS_WORKERS: usize = 1;

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be had.
    #[error("setting {setting}: can't listen on {address}: {source}")]
    Bind {
        /// Which setting asked for it.
        setting: &'static str,
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The API's description can't be written down.
    #[error("the OpenAPI document: {0}")]
    Document(#[from] serde_json::Error),
}

/// A server that accepts connections.
pub struct Running {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    stopping: Stopping,
    handles: Vec<ServerHandle>,
    tasks: Vec<JoinHandle<io::Result<()>>>,
}

/// Starts to listen. The server runs until [`Running::stop`]; signals are the caller's business.
///
/// # Errors
/// An address that is taken or not ours.
pub fn start(settings: &Settings, web: Web, routes: Routes) -> Result<Running, ServeError> {
    let stopping = web.stopping.clone();
    let table = Table::new(web, routes, settings.http.metrics_listen.is_empty())?;
    let (server, address) = api(&settings.http, settings.workers(), table.clone())?;
    let mut servers = vec![server];
    let mut metrics_address = None;
    if !settings.http.metrics_listen.is_empty() {
        let (server, address) = metrics(&settings.http, table)?;
        servers.push(server);
        metrics_address = Some(address);
    }
    Ok(Running {
        address,
        metrics_address,
        stopping,
        handles: servers.iter().map(Server::handle).collect(),
        tasks: servers.into_iter().map(tokio::spawn).collect(),
    })
}

fn api(settings: &Http, workers: usize, table: Table) -> Result<(Server, SocketAddr), ServeError> {
    let bind = |source| ServeError::Bind {
        setting: "http.listen",
        address: settings.listen.to_string(),
        source,
    };
    let server = HttpServer::new(move || {
        App::new()
            .wrap(from_fn(envelope::wrap))
            .configure(|config| table.mount(config))
    })
    .workers(workers)
    .max_connections(MAX_CONNECTIONS)
    .keep_alive(Duration::from_secs(settings.keep_alive_s))
    .client_request_timeout(HEAD_TIMEOUT)
    .client_disconnect_timeout(DISCONNECT_TIMEOUT)
    // Who closes a connection reads no answer: a stream, which holds a place, ends at once.
    .h1_allow_half_closed(false)
    .on_connect(|connection, _| notice_silence(connection))
    .tcp_nodelay(true)
    .shutdown_timeout(settings.shutdown_timeout_s)
    .disable_signals()
    .bind(settings.listen)
    .map_err(bind)?;
    let address = first(server.addrs()).map_err(bind)?;
    Ok((server.run(), address))
}

/// A client whose network went away takes nothing any more: what was sent to it is given up after a while, where else the
/// system would try for a quarter of an hour, and a stream would hold a place for as long.
fn notice_silence(connection: &dyn Any) {
    #[cfg(target_os = "linux")]
    if let Some(stream) = connection.downcast_ref::<TcpStream>()
        && let Err(error) = set_tcp_user_timeout(stream, UNANSWERED_MS)
    {
        tracing::debug!(%error, "a connection has no limit of its own");
    }
}

fn metrics(settings: &Http, table: Table) -> Result<(Server, SocketAddr), ServeError> {
    let address = settings.metrics_listen.as_str();
    let bind = |source| ServeError::Bind {
        setting: "http.metrics_listen",
        address: address.to_owned(),
        source,
    };
    let server = HttpServer::new(move || {
        App::new()
            .wrap(from_fn(envelope::wrap))
            .configure(|config| table.mount_metrics(config))
    })
    .workers(METRICS_WORKERS)
    .client_request_timeout(HEAD_TIMEOUT)
    .client_disconnect_timeout(DISCONNECT_TIMEOUT)
    .shutdown_timeout(settings.shutdown_timeout_s)
    .disable_signals()
    .bind(address)
    .map_err(bind)?;
    let address = first(server.addrs()).map_err(bind)?;
    Ok((server.run(), address))
}

fn first(addresses: Vec<SocketAddr>) -> io::Result<SocketAddr> {
    addresses
        .into_iter()
        .next()
        .ok_or_else(|| io::Error::other("no address was bound"))
}

impl Running {
    /// The address of the API, with the port that the system chose for port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the metrics, if they have one of their own.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// Accepts no more, answers what was accepted, for `http.shutdown_timeout_s` at most.
    ///
    /// # Errors
    /// When the server had ended with an error before.
    pub async fn stop(self) -> io::Result<()> {
        self.stopping.begin();
        futures_util::future::join_all(self.handles.iter().map(|handle| handle.stop(true))).await;
        for task in self.tasks {
            task.await.map_err(io::Error::other)??;
        }
        Ok(())
    }
}
