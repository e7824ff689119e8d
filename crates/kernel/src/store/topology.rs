//! One server, the primary that sentinels name, or a cluster: which node takes a call.

use std::sync::Arc;

use redis::RedisError;

use super::cluster::{Cluster, Map, slot_of};
use super::connection::Link;
use super::sentinel::{Primary, Sentinels};

/// Where calls go.
pub(super) enum Topology {
    /// Everything to one server.
    Single(Arc<Link>),
    /// Everything to the primary of the moment.
    Sentinel(Box<Sentinels>),
    /// By slot.
    Cluster(Cluster),
}

/// The topology as a call saw it, to find out later whether it has changed.
pub(super) enum SeenTopology {
    Single,
    Sentinel(Arc<Primary>),
    Cluster(Arc<Map>),
}

impl Topology {
    /// The node for `key`, or any node without one; `None` while no node owns the slot.
    pub(super) fn pick(&self, key: Option<&[u8]>) -> (Option<Arc<Link>>, SeenTopology) {
        match self {
            Self::Single(link) => (Some(Arc::clone(link)), SeenTopology::Single),
            Self::Sentinel(sentinels) => {
                let primary = sentinels.primary();
                (primary.link.clone(), SeenTopology::Sentinel(primary))
            }
            Self::Cluster(cluster) => {
                let map = cluster.map();
                let link = match key {
                    Some(key) => map.owner(slot_of(key)),
                    None => map.primaries().first(),
                };
                (link.map(Arc::clone), SeenTopology::Cluster(map))
            }
        }
    }

    /// After a failure: looks up the primary, or the slots' owners. A failure here is ignored; the retry will meet it.
    pub(super) async fn look_again(&self, seen: &SeenTopology) {
        let _ = match (self, seen) {
            (Self::Cluster(cluster), SeenTopology::Cluster(map)) => cluster.refresh(map).await,
            (Self::Sentinel(sentinels), SeenTopology::Sentinel(primary)) => sentinels.refresh(primary).await,
            _ => Ok(()),
        };
    }

    /// The link to a node named in a redirection; `None` outside a cluster.
    pub(super) fn named(&self, by: &Link, to: &(String, u16)) -> Option<Result<Arc<Link>, RedisError>> {
        match self {
            Self::Single(_) | Self::Sentinel(_) => None,
            Self::Cluster(cluster) => Some(cluster.link_to(by, &to.0, to.1)),
        }
    }

    /// Whether nodes have a `cluster_state`.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Whether a server that answers may have been replaced without a sign of its own. Sentinels are asked about that
    /// before a call fails.
    pub(super) fn is_by_sentinels(&self) -> bool {
        matches!(self, Self::Sentinel(_))
    }

    /// Every node that takes writes.
    pub(super) fn primaries(&self) -> Vec<Arc<Link>> {
        match self {
            Self::Single(link) => vec![Arc::clone(link)],
            Self::Sentinel(sentinels) => sentinels.primary().link.iter().map(Arc::clone).collect(),
            Self::Cluster(cluster) => cluster.map().primaries().to_vec(),
        }
    }
}
