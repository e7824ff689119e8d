//! Listens, and stops without losing an answer.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::web::ServiceConfig;
use jiff::Timestamp;
use tokio::task::JoinHandle;

use super::Web;
use super::listener::tls::{Certificates, TlsError};
use super::listener::{self, Options};
use super::routes::{Routes, Table};
use crate::open_files;
use crate::settings::{Http, Settings};
use crate::stopping::Stopping;

/// Default limit of connections. Each takes some 20 KiB after its first use.
const MAX_CONNECTIONS: usize = 20_000;

/// Open files reserved for Redis, the ledger and files; and the part of them for connections that are being refused.
const RESERVED_FILES: usize = 512;
const RESERVED_SHARE: usize = 16;

/// Threads for the metrics listener: one reader now and then.
const METRICS_WORKERS: usize = 1;

const METRICS_CONNECTIONS: usize = 64;

/// Time for answers that wait for nothing.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be used.
    #[error("setting {setting}: can't listen on {address}: {source}")]
    Bind {
        /// The setting with the address.
        setting: &'static str,
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The certificate is missing or can't be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A taken address can't be served.
    #[error("the server: {0}")]
    Socket(#[from] io::Error),
}

/// A running server.
pub struct Running {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    is_https: bool,
    stopping: Stopping,
    handles: Vec<ServerHandle>,
    tasks: Vec<JoinHandle<io::Result<()>>>,
    certificates: Option<JoinHandle<()>>,
}

/// The addresses of a service. One server after the other may serve them; in between the system keeps new connections.
pub struct Sockets {
    api: TcpListener,
    metrics: Option<TcpListener>,
}

impl Sockets {
    /// Takes the addresses of the settings.
    ///
    /// # Errors
    /// An address that is in use, or not this machine's.
    pub fn bind(http: &Http) -> Result<Self, ServeError> {
        let bind = |setting, address: &str, source| ServeError::Bind {
            setting,
            address: address.to_owned(),
            source,
        };
        let api = listener::bind(http.listen);
        let metrics = (!http.metrics_listen.is_empty()).then(|| {
            let address = http.metrics_listen.parse().map_err(io::Error::other);
            address
                .and_then(listener::bind)
                .map_err(|source| bind("http.metrics_listen", &http.metrics_listen, source))
        });
        Ok(Self {
            api: api.map_err(|source| bind("http.listen", &http.listen.to_string(), source))?,
            metrics: metrics.transpose()?,
        })
    }
}

/// Takes the addresses of the settings, and serves them. The server runs until [`Running::stop`]. The caller handles
/// signals.
///
/// # Errors
/// An address that is in use, or not this machine's.
pub fn start(settings: &Settings, web: &Web, routes: Routes) -> Result<Running, ServeError> {
    start_on(&Sockets::bind(&settings.http)?, settings, web, routes)
}

/// The same on addresses that are taken.
///
/// # Errors
/// A certificate that can't be used.
pub fn start_on(sockets: &Sockets, settings: &Settings, web: &Web, routes: Routes) -> Result<Running, ServeError> {
    let table = Table::new(web.clone(), routes, sockets.metrics.is_none());
    serve(sockets, settings, web, table, Table::mount)
}

/// Serves the addresses of an instance that is starting: it is alive and not ready. Each answer ends its connection, so
/// that the next request reaches the service.
///
/// # Errors
/// A certificate that can't be used.
pub fn start_unready(sockets: &Sockets, settings: &Settings, web: &Web) -> Result<Running, ServeError> {
    let mut settings = settings.clone();
    settings.http.workers = 1;
    let table = Table::starting(web.clone(), sockets.metrics.is_none());
    serve(sockets, &settings, web, table, Table::mount_starting)
}

fn serve(
    sockets: &Sockets,
    settings: &Settings,
    web: &Web,
    table: Table,
    mount: fn(&Table, &mut ServiceConfig),
) -> Result<Running, ServeError> {
    let stopping = web.stopping.clone();
    let http = &settings.http;
    let certificates = certificates(http)?;
    let options = Options {
        workers: settings.workers(),
        max_connections: max_connections(http),
        keep_alive: Duration::from_secs(http.keep_alive_s),
        shutdown_timeout_s: http.shutdown_timeout_s,
        tls: certificates.as_ref().map(Certificates::config).transpose()?,
        addresses: Some(Arc::clone(&web.addresses)),
        metrics: Arc::clone(&web.metrics),
        stopping: stopping.clone(),
    };
    let for_metrics = Options {
        workers: METRICS_WORKERS,
        max_connections: METRICS_CONNECTIONS,
        tls: None,
        addresses: None,
        metrics: Arc::clone(&web.metrics),
        stopping: stopping.clone(),
        ..options
    };
    let of_metrics = table.clone();
    let (server, address) = listener::serve(&sockets.api, options, move |config| mount(&table, config))?;
    let mut servers = vec![server];
    let mut metrics_address = None;
    if let Some(socket) = &sockets.metrics {
        let mount = move |config: &mut ServiceConfig| of_metrics.mount_metrics(config);
        let (server, address) = listener::serve(socket, for_metrics, mount)?;
        servers.push(server);
        metrics_address = Some(address);
    }
    Ok(Running {
        address,
        metrics_address,
        is_https: certificates.is_some(),
        stopping,
        handles: servers.iter().map(Server::handle).collect(),
        tasks: servers.into_iter().map(tokio::spawn).collect(),
        certificates: certificates.map(|certificates| tokio::spawn(certificates.follow())),
    })
}

/// When the configured certificate ends; `None` without one.
///
/// # Errors
/// As at a start: a pair that can't be used.
pub fn certificate_ends(http: &Http) -> Result<Option<Timestamp>, TlsError> {
    Ok(certificates(http)?.and_then(|certificates| certificates.ends()))
}

fn certificates(http: &Http) -> Result<Option<Arc<Certificates>>, TlsError> {
    if http.tls_cert_file.is_empty() {
        return Ok(None);
    }
    Certificates::open(Path::new(&http.tls_cert_file), Path::new(&http.tls_key_file)).map(Some)
}

fn max_connections(http: &Http) -> usize {
    match http.max_connections {
        0 => {
            let files = open_files::limit();
            let left = files.saturating_sub(RESERVED_FILES + files / RESERVED_SHARE);
            left.clamp(1, MAX_CONNECTIONS)
        }
        some => some,
    }
}

impl Running {
    /// The address of the API, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether the API takes TLS.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// The address of the metrics, if they have their own.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// Stops so that another server can serve the same addresses: from here on the system keeps new connections. The
    /// accepted ones are answered first, for a moment. A connection without a whole request is closed then: to wait for
    /// it would delay the service.
    ///
    /// # Errors
    /// If the server had ended with an error before.
    pub async fn hand_over(self) -> io::Result<()> {
        for handle in &self.handles {
            handle.pause().await;
        }
        tokio::time::sleep(LAST_ANSWERS).await;
        self.end(false).await
    }

    /// Accepts no more connections, and answers accepted requests, for at most `http.shutdown_timeout_s`.
    ///
    /// # Errors
    /// If the server had ended with an error before.
    pub async fn stop(self) -> io::Result<()> {
        self.end(true).await
    }

    async fn end(self, graceful: bool) -> io::Result<()> {
        self.stopping.begin();
        if let Some(certificates) = self.certificates {
            certificates.abort();
        }
        futures_util::future::join_all(self.handles.iter().map(|handle| handle.stop(graceful))).await;
        for task in self.tasks {
            task.await.map_err(io::Error::other)??;
        }
        Ok(())
    }
}
