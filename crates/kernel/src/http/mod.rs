//! The HTTP front: server, route table, problem+json, keys and roles, `OpenAPI`. No business rule is here.
//!
//! A handler takes what it needs as arguments ([`auth`], [`body`], [`query`]), calls one function of its
//! capability, and answers; an error becomes a [`problem::Problem`]. The routes of all capabilities are joined in
//! [`routes`].

pub mod addresses;
mod assets;
pub mod auth;
pub mod body;
pub mod budget;
pub mod cached;
pub mod code;
pub mod conditions;
pub mod cors;
pub mod envelope;
mod fallback;
pub mod health;
pub mod html;
pub mod inside;
mod limits;
mod listener;
mod objects;
pub mod openapi;
pub mod page;
pub mod peer;
pub mod problem;
pub mod query;
pub mod request_id;
pub mod routes;
mod secure;
pub mod server;
pub mod shape;
pub mod starting;
mod teach;
mod whole;

use std::sync::Arc;

use actix_web::{Route, guard, web};

pub use body::{Body, Described};
pub use code::Code;
pub use listener::state::{Asked, ConnectionState};
pub use page::PageBody;
pub use problem::Problem;
pub use query::{PathOf, QueryOf};

use crate::keys::KeyStore;
use crate::settings::Settings;
use crate::stopping::Stopping;
use crate::telemetry::{GaugeGuard, Metrics};
use addresses::{Address, Addresses, OpenStream};
use health::ReadinessFn;
use peer::Peer;

/// A route for GET and HEAD, which HTTP requires for every such resource. The answer to HEAD is sent without its body.
pub fn get() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// Extension of an operation whose GET acts, such as one that keeps a place alive.
pub const ACTS: &str = "x-acts";

/// A route for a GET that acts. HEAD must not act, so the path does not accept it. The operation states this by
/// [`ACTS`], from which `Allow` is made.
pub fn acting_get() -> Route {
    web::get()
}

/// The state that all routes share, on all worker threads. Handlers get it as `web::Data<Web>`.
#[derive(Clone)]
pub struct Web {
    /// The valid keys.
    pub keys: Arc<KeyStore>,
    /// The records of client addresses.
    pub addresses: Arc<Addresses>,
    pub metrics: Arc<Metrics>,
    /// Whether this instance can serve.
    pub readiness: ReadinessFn,
    /// Signals when long answers must end.
    pub stopping: Stopping,
    /// Largest accepted body in bytes.
    pub max_body_bytes: usize,
    /// Most streams of callers with a key or a place: of meters and winners, of requests in a queue, of tickets and of pages.
    pub max_streams: usize,
    /// Most streams of meters and winners without a key.
    pub max_public_streams: usize,
}

impl Web {
    /// The state from the settings, with no clients yet.
    pub fn new(settings: &Settings, keys: Arc<KeyStore>, metrics: Arc<Metrics>, readiness: ReadinessFn) -> Web {
        Web {
            keys,
            addresses: Arc::new(Addresses::new(addresses::Limits::of(settings))),
            metrics,
            readiness,
            stopping: Stopping::default(),
            max_body_bytes: settings.http.max_body_bytes,
            max_streams: settings.http.max_streams,
            max_public_streams: settings.http.max_public_streams,
        }
    }

    /// Opens a stream for a caller with a key or a place, until the guard is dropped; 503 at the limit.
    pub fn open_stream(&self) -> Result<GaugeGuard, Problem> {
        let too_many = || {
            Problem::too_many_streams(
                "this instance serves as many streams with a key, a place in a line or a room as it may (setting http.max_streams)",
            )
        };
        self.metrics.open_stream(self.max_streams).ok_or_else(too_many)
    }

    /// Opens a stream of what may be public, within the limits of the caller's kind.
    pub fn open_stream_for(&self, has_key: bool, peer: &Peer) -> Result<(Option<OpenStream>, GaugeGuard), Problem> {
        if has_key {
            Ok((None, self.open_stream()?))
        } else {
            self.open_public_stream(peer)
        }
    }

    /// Opens a stream without a key.
    pub fn open_public_stream(&self, peer: &Peer) -> Result<(Option<OpenStream>, GaugeGuard), Problem> {
        let open = |address: &Address| address.open_stream().ok_or(());
        let of_address = peer.address.as_ref().map(open).transpose().map_err(|()| {
            Problem::too_many_streams(
                "this address has as many streams without a key as it may (setting http.max_public_streams_per_address)",
            )
        })?;
        let guard = self
            .metrics
            .open_public_stream(self.max_public_streams)
            .ok_or_else(|| {
                Problem::too_many_streams(
                    "this instance serves as many streams without a key as it may (setting http.max_public_streams)",
                )
            })?;
        Ok((of_address, guard))
    }
}
