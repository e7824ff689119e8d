//! A Redis Cluster: which node owns which slot, and a link of its own to each.
//!
//! Not redis-rs' cluster client. That one repeats silently a command whose reply was lost, holds every call back while
//! it looks the slots up again, and keeps sending to a frozen primary after its replica took over, as a timeout
//! teaches it nothing. Here a node is a [`Link`] like any single server, the repeats of a call are counted in one
//! place ([`super::dispatch`]), and each failure asks the *other* nodes who owns the slots now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Client, RedisError, Value};

use super::connection::{Limits, Link};
use super::error::Failure;

/// Slots of a cluster, by the cluster specification.
pub(super) const SLOTS: usize = 16384;

/// The nodes of a cluster and who owns what.
pub(super) struct Cluster {
    seeds: Vec<Arc<Link>>,
    map: ArcSwap<Map>,
    /// Every node that a call was sent to, by address, so that its connection outlives a change of the map.
    known: Mutex<HashMap<(String, u16), Arc<Link>>>,
    refreshing: tokio::sync::Mutex<()>,
}

/// The owners of the slots, as one node told at one moment.
#[derive(Default)]
pub(super) struct Map {
    ranges: Vec<Range>,
    primaries: Vec<Arc<Link>>,
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
    /// A cluster known by its seed nodes; [`Cluster::refresh`] learns the rest.
    pub(super) fn new(seeds: Vec<Client>, limits: Limits) -> Self {
        Self {
            seeds: seeds
                .into_iter()
                .map(|client| Arc::new(Link::new(client, limits)))
                .collect(),
            map: ArcSwap::default(),
            known: Mutex::default(),
            refreshing: tokio::sync::Mutex::new(()),
        }
    }

    /// The nodes given in the settings.
    pub(super) fn seeds(&self) -> &[Arc<Link>] {
        &self.seeds
    }

    pub(super) fn map(&self) -> Arc<Map> {
        self.map.load_full()
    }

    /// Asks all nodes at once who owns the slots and takes the first answer, so that a frozen node delays nobody.
    /// Does nothing when the map is no longer the one that the caller `seen` failing.
    pub(super) async fn refresh(&self, seen: &Arc<Map>) -> Result<(), Failure> {
        let _one_at_a_time = self.refreshing.lock().await;
        if !Arc::ptr_eq(&self.map.load(), seen) {
            return Ok(());
        }
        let mut question = redis::cmd("CLUSTER");
        question.arg("SLOTS");
        let mut answers: FuturesUnordered<_> = self.candidates().into_iter().map(|link| ask(link, &question)).collect();
        let mut failure = Failure::NoOwner;
        while let Some((link, answer)) = answers.next().await {
            match answer.and_then(|answer| self.read(&link, &answer)) {
                Ok(map) if map.ranges.is_empty() => {}
                Ok(map) => {
                    self.forget_others(&map);
                    self.map.store(Arc::new(map));
                    return Ok(());
                }
                Err(one) => failure = one,
            }
        }
        Err(failure)
    }

    /// The link to a node that another one named; an empty host means the host of the one who `told`.
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

    /// Without this the table of nodes would grow with every node that ever was.
    fn forget_others(&self, map: &Map) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, link| map.primaries.iter().any(|primary| Arc::ptr_eq(primary, link)));
    }

    /// Reads the answer to CLUSTER SLOTS: `[[first, last, [host, port, …], replicas…], …]`.
    fn read(&self, told: &Link, answer: &Value) -> Result<Map, Failure> {
        let mut map = Map::default();
        let Value::Array(rows) = answer else {
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
        Ok(map)
    }
}

async fn ask(link: Arc<Link>, question: &redis::Cmd) -> (Arc<Link>, Result<Value, Failure>) {
    let answer = link.send(question).await;
    (link, answer)
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

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(slot_of(b"123456789"), 0x31C3);
        assert_eq!(slot_of(b"foo"), 12182);
        for key in ["jp:{spring}:state", "{}empty", "a{b", "x{y}{z}", ""] {
            assert_eq!(Slot::new(slot_of(key.as_bytes())), Some(Slot::for_key(key)), "{key}");
        }
    }
}
