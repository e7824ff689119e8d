//! Metrics of connections.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::declared::{Fixed, metrics};

metrics! {
    /// The number of connections, and why the service ended others.
    pub struct ConnectionMetrics {
        open: Gauge = "http_connections", "Open connections";
        closed: Family<Fixed<1>, Counter> = "http_connections_closed",
            "Connections that the service refused or ended early, by reason";
    }
}

impl ConnectionMetrics {
    /// A connection got a place.
    pub fn opened(&self) {
        self.open.inc();
    }

    /// It gave the place back.
    pub fn ended(&self) {
        self.open.dec();
    }

    /// A connection was refused, or ended by the service.
    pub fn closed(&self, reason: &'static str) {
        self.closed.get_or_create(&[("reason", reason)]).inc();
    }
}
