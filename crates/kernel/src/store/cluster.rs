//! A Redis Cluster: which node owns which slot, and a link to each node.
//!
//! It does not use redis-rs' cluster client. That client repeats a command whose reply was lost without saying so. It
//! holds every call back while it looks the slots up again. And it keeps sending to a frozen primary after its replica
//! took over, because it learns nothing from a time-out. Here a node is a [`Link`] like any single server, one place
//! counts the retries of a call ([`super::dispatch`]), and each failure asks the *other* nodes for the slots' owners.
//!
//! Nodes may disagree: a primary that its peers cannot reach still names itself after its replica was promoted. So
//! several nodes are asked. The answer of the node with the latest epoch and a working cluster wins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::FuturesUnordered;
use redis::{Client, RedisError, Value};
use tokio::time::{Duration, Instant, timeout_at};

use super::connection::{Limits, Link};
use super::error::Failure;
use super::health::table;

/// Slots of a cluster, by the cluster specification.
pub(super) const SLOTS: usize = 16384;

/// How long the other nodes may take once one has answered. A frozen node delays a look by at most this.
const OTHERS_WAIT: Duration = Duration::from_millis(100);
/// Shortest time between two looks, so that a thousand failing calls do not become a thousand looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Nodes remembered without a complete map. A cluster has at most about this many.
const MAX_KNOWN: usize = 1000;

/// The nodes of a cluster and the owners of its slots.
pub(super) struct Cluster {
    seeds: Vec<Arc<Link>>,
    map: ArcSwap<Map>,
    /// Every node to which a call was sent, by address, so that its connection outlives a change of the map.
    known: Mutex<HashMap<(String, u16), Arc<Link>>>,
    /// When the last look ended.
    refreshing: tokio::sync::Mutex<Option<Instant>>,
}

/// The owners of the slots, from one node at one moment.
#[derive(Default)]
pub(super) struct Map {
    ranges: Vec<Range>,
    primaries: Vec<Arc<Link>>,
    standing: Standing,
}

/// How credible a node's view of the cluster is. The fields are in the order of their weight. A node that is cut off
/// from its peers knows it (`cluster_state:fail`) one node timeout later. A node that has just joined knows the latest
/// epoch and few of the slots. Of two nodes that see everything, the later epoch is right.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    state_ok: bool,
    whole: bool,
    epoch: u64,
    covered: usize,
}

impl Standing {
    fn new(info: &HashMap<String, String>, covered: usize) -> Self {
        Self {
            state_ok: info.get("cluster_state").is_some_and(|state| state == "ok"),
            whole: covered == SLOTS,
            epoch: info
                .get("cluster_current_epoch")
                .and_then(|epoch| epoch.parse().ok())
                .unwrap_or(0),
            covered,
        }
    }

    /// Whether the best answer of a look is better than the known map. It is not if only a cut-off node answered in
    /// time. A complete and working cluster counts whatever its epoch, because it may be a new one.
    fn replaces(self, known: Self) -> bool {
        self.state_ok && (self.whole || self.epoch >= known.epoch)
            || self.epoch >= known.epoch && self.covered >= known.covered
    }
}

struct Range {
    first: u16,
    last: u16,
    owner: Arc<Link>,
}

impl Map {
    /// The nodes that own slots.
    pub(super) fn primaries(&self) -> &[Arc<Link>] {
        &self.primaries
    }

    /// How many slots have an owner.
    pub(super) fn covered(&self) -> usize {
        self.ranges
            .iter()
            .map(|range| usize::from(range.last - range.first) + 1)
            .sum()
    }

    pub(super) fn owner(&self, slot: u16) -> Option<&Arc<Link>> {
        let at = self.ranges.partition_point(|range| range.last < slot);
        self.ranges
            .get(at)
            .filter(|range| range.first <= slot)
            .map(|range| &range.owner)
    }
}

impl Cluster {
    /// A cluster with only its seed nodes; [`Cluster::refresh`] finds the rest.
    pub(super) fn new(seeds: Vec<Client>, limits: Limits) -> Self {
        Self {
            seeds: seeds
                .into_iter()
                .map(|client| Arc::new(Link::new(client, limits)))
                .collect(),
            map: ArcSwap::default(),
            known: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// The nodes in the settings.
    pub(super) fn seeds(&self) -> &[Arc<Link>] {
        &self.seeds
    }

    pub(super) fn map(&self) -> Arc<Map> {
        self.map.load_full()
    }

    /// Asks all nodes at once for the slots' owners and takes the most credible answer that comes in time. Does nothing
    /// if the map has changed since the caller's `seen`, or was renewed just now.
    pub(super) async fn refresh(&self, seen: &Arc<Map>) -> Result<(), Failure> {
        let mut last_look = self.refreshing.lock().await;
        let known = self.map.load_full();
        let just_now = last_look.is_some_and(|at| at.elapsed() < BETWEEN_LOOKS);
        if !Arc::ptr_eq(&known, seen) || (just_now && !known.ranges.is_empty()) {
            return Ok(());
        }
        let found = self.best_map().await;
        *last_look = Some(Instant::now());
        let map = found?;
        if map.standing.replaces(known.standing) {
            self.forget_others(&map);
            self.map.store(Arc::new(map));
        }
        Ok(())
    }

    /// The best of all answers, or of the answers within [`OTHERS_WAIT`] of the first usable one, so that a frozen node
    /// delays nobody for long.
    async fn best_map(&self) -> Result<Map, Failure> {
        let mut answers: FuturesUnordered<_> = self.candidates().into_iter().map(ask).collect();
        let mut failure = Failure::NoOwner;
        let mut best: Option<(Map, Instant)> = None;
        loop {
            let next = match &best {
                None => answers.next().await,
                Some((_, until)) => timeout_at(*until, answers.next()).await.ok().flatten(),
            };
            let Some((link, answer)) = next else {
                return best.map(|(map, _)| map).ok_or(failure);
            };
            match answer.and_then(|(slots, info)| self.read(&link, &slots, &info)) {
                Ok(map) if map.ranges.is_empty() => {}
                Ok(map) => match &mut best {
                    None => best = Some((map, Instant::now() + OTHERS_WAIT)),
                    Some((best, _)) if map.standing > best.standing => *best = map,
                    Some(_) => {}
                },
                Err(one) => failure = one,
            }
        }
    }

    /// The link to a node that another node named. An empty host is the host of the answering node, `told`.
    pub(super) fn link_to(&self, told: &Link, host: &str, port: u16) -> Result<Arc<Link>, RedisError> {
        let host = if host.is_empty() || host == "?" {
            told.host().unwrap_or_default()
        } else {
            host
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = known.get(&(host.to_owned(), port)) {
            return Ok(Arc::clone(link));
        }
        let link = Arc::new(told.sibling(host, port)?);
        known.insert((host.to_owned(), port), Arc::clone(&link));
        Ok(link)
    }

    fn candidates(&self) -> Vec<Arc<Link>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.seeds.iter().chain(known.values()).map(Arc::clone).collect()
    }

    /// Drops nodes that are not in the map; otherwise the table would grow with every node. A partial map drops none:
    /// the missing nodes may know better.
    fn forget_others(&self, map: &Map) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !(map.standing.state_ok && map.standing.whole) && known.len() <= MAX_KNOWN {
            return;
        }
        known.retain(|_, link| map.primaries.iter().any(|primary| Arc::ptr_eq(primary, link)));
    }

    /// Reads the answers to CLUSTER SLOTS, `[[first, last, [host, port, …], replicas…], …]`, and to CLUSTER INFO. A
    /// node that may not answer the latter is the least credible.
    fn read(&self, told: &Link, slots: &Value, info: &Value) -> Result<Map, Failure> {
        let mut map = Map::default();
        let Value::Array(rows) = slots else {
            return Err(Failure::NoOwner);
        };
        for row in rows {
            let Some((first, last, host, port)) = range(row) else {
                return Err(Failure::NoOwner);
            };
            let owner = self.link_to(told, &host, port).map_err(|source| told.failure(source))?;
            if !map.primaries.iter().any(|primary| Arc::ptr_eq(primary, &owner)) {
                map.primaries.push(Arc::clone(&owner));
            }
            map.ranges.push(Range { first, last, owner });
        }
        map.ranges.sort_unstable_by_key(|range| range.first);
        map.standing = Standing::new(&table(info), map.covered());
        Ok(map)
    }
}

/// A node's view of the slots and of itself, over the connection that calls and the watcher keep open.
async fn ask(link: Arc<Link>) -> (Arc<Link>, Result<(Value, Value), Failure>) {
    let [mut slots, mut info] = [redis::cmd("CLUSTER"), redis::cmd("CLUSTER")];
    let (slots, info) = join(link.send(slots.arg("SLOTS")), link.send(info.arg("INFO"))).await;
    (link, slots.map(|slots| (slots, info.unwrap_or(Value::Nil))))
}

fn range(row: &Value) -> Option<(u16, u16, String, u16)> {
    let Value::Array(fields) = row else {
        return None;
    };
    let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = fields.as_slice() else {
        return None;
    };
    let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
    if first > last || usize::from(last) >= SLOTS {
        return None;
    }
    let host = match primary.first()? {
        Value::BulkString(host) => String::from_utf8(host.clone()).ok()?,
        Value::Nil => String::new(),
        _ => return None,
    };
    let Value::Int(port) = primary.get(1)? else {
        return None;
    };
    Some((first, last, host, u16::try_from(*port).ok()?))
}

/// The slot of a key: CRC-16/XMODEM of its hash tag, or of all of it, modulo the number of slots.
pub(super) fn slot_of(key: &[u8]) -> u16 {
    let tag = hash_tag(key).unwrap_or(key);
    let crc = tag.iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    });
    crc % 16384
}

fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')? + 1;
    let length = key[open..].iter().position(|byte| *byte == b'}')?;
    (length > 0).then(|| &key[open..open + length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use redis::cluster_routing::Slot;

    fn standing(state: &str, epoch: u64, covered: usize) -> Standing {
        let info = format!("cluster_state:{state}\r\ncluster_current_epoch:{epoch}\r\n");
        Standing::new(&table(&Value::BulkString(info.into_bytes())), covered)
    }

    #[test]
    fn the_latest_working_view_is_believed() {
        let promoted = standing("ok", 7, SLOTS);
        for lesser in [
            standing("fail", 6, SLOTS), // cut off, and knows it
            standing("ok", 6, SLOTS),   // cut off, and does not know it yet
            standing("ok", 7, 5461),    // has just joined
            standing("fail", 9, SLOTS),
            Standing::new(&HashMap::new(), SLOTS),
        ] {
            assert!(promoted > lesser && promoted.replaces(lesser), "{lesser:?}");
        }
        assert!(
            standing("fail", 6, SLOTS) > standing("fail", 6, 5461),
            "the best of the rest"
        );
    }

    #[test]
    fn a_cut_off_node_alone_replaces_nothing_better() {
        let known = standing("ok", 7, SLOTS);
        assert!(!standing("fail", 6, SLOTS).replaces(known));
        assert!(!standing("fail", 7, 5461).replaces(known));
        assert!(!standing("ok", 6, 5461).replaces(known));
        assert!(standing("ok", 8, 16000).replaces(known), "slots may really be lost");
        assert!(standing("ok", 1, SLOTS).replaces(known), "a cluster built anew");
        assert!(
            standing("fail", 0, 1).replaces(Standing::default()),
            "anything for a start"
        );
    }

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(slot_of(b"123456789"), 0x31C3);
        assert_eq!(slot_of(b"foo"), 12182);
        for key in ["jp:{spring}:state", "{}empty", "a{b", "x{y}{z}", ""] {
            assert_eq!(Slot::new(slot_of(key.as_bytes())), Some(Slot::for_key(key)), "{key}");
        }
    }
}
