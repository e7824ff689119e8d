use std::net::Ipv4Addr;

use super::*;

fn limits() -> Limits {
    Limits {
        connections: 3,
        streams: 2,
        public: Rate::new(10, 0),
        failed: Rate::new(1, 0),
        proxies: Proxies::parse(&["10.0.0.0/8".to_owned()]).expect("a range"),
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn refused(addresses: &Addresses, address: &str, now: Moment) -> Option<Refused> {
    addresses.connect_at(ip(address), now).err()
}

/// Sends requests without a key until connections of the address are refused as well.
fn flood(addresses: &Addresses, address: &str, now: Moment) {
    let address = addresses.address_at(ip(address), now);
    for _ in 0..=REFUSAL_BURST + 10 {
        let _ = address.public(now);
    }
}

#[test]
fn an_address_has_so_many_connections_and_another_has_its_own() {
    let addresses = Addresses::new(limits());
    let open: Vec<_> = (0..3)
        .map(|_| addresses.connect(ip("192.0.2.1")).expect("within the limit"))
        .collect();
    assert_eq!(addresses.connect(ip("192.0.2.1")).err(), Some(Refused::TooMany));
    let clone = open[0].clone();
    assert!(addresses.connect(ip("192.0.2.2")).is_ok());
    drop(open);
    let again: Vec<_> = (0..2).map(|_| addresses.connect(ip("192.0.2.1"))).collect();
    assert!(again.iter().all(Result::is_ok));
    assert_eq!(
        addresses.connect(ip("192.0.2.1")).err(),
        Some(Refused::TooMany),
        "a connection counts until its last clone is gone"
    );
    drop(clone);
    assert!(addresses.connect(ip("192.0.2.1")).is_ok());
}

#[test]
fn a_refused_connection_is_not_counted() {
    let addresses = Addresses::new(limits());
    let open: Vec<_> = (0..3).map(|_| addresses.connect(ip("192.0.2.1"))).collect();
    for _ in 0..10 {
        assert!(addresses.connect(ip("192.0.2.1")).is_err());
    }
    drop(open);
    let open: Vec<_> = (0..3).map(|_| addresses.connect(ip("192.0.2.1"))).collect();
    assert!(open.iter().all(Result::is_ok));
}

#[test]
fn no_limit_is_no_limit() {
    let addresses = Addresses::new(Limits {
        connections: 0,
        public: None,
        failed: None,
        ..limits()
    });
    let open: Vec<_> = (0..5_000).map(|_| addresses.connect(ip("192.0.2.1"))).collect();
    assert!(open.iter().all(Result::is_ok));
    let address = addresses.address(ip("192.0.2.1"));
    let now = Moment::now();
    assert!((0..5_000).all(|_| address.public(now) == Ok(None) && address.failed_key(now) == Ok(None)));
}

#[test]
fn one_network_is_one_address() {
    let addresses = Addresses::new(limits());
    let open: Vec<_> = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2::77"]
        .map(|text| addresses.connect(ip(text)))
        .into();
    assert!(open.iter().all(Result::is_ok));
    assert_eq!(
        addresses.connect(ip("2001:db8:1:2::1234")).err(),
        Some(Refused::TooMany)
    );
    assert!(addresses.connect(ip("2001:db8:1:3::1")).is_ok(), "another network");
    let mapped: Vec<_> = ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"]
        .map(|text| addresses.connect(ip(text)))
        .into();
    assert!(mapped.iter().all(Result::is_ok));
    assert_eq!(addresses.connect(ip("::ffff:192.0.2.1")).err(), Some(Refused::TooMany));
    assert!(addresses.connect(ip("::ffff:192.0.2.2")).is_ok());
}

#[test]
fn a_trusted_proxy_is_neither_counted_nor_refused() {
    let addresses = Addresses::new(limits());
    let open: Vec<_> = (0..50)
        .map(|_| addresses.connect(ip("10.1.1.1")).expect("a proxy"))
        .collect();
    assert!(open.iter().all(|one| one.is_proxy() && one.address().is_none()));
    assert_eq!(addresses.count(), 0, "no record is made for it");
}

#[test]
fn a_flood_is_refused_its_connections_unless_a_key_vouches_for_its_address() {
    let addresses = Addresses::new(limits());
    let now = Moment::now();
    flood(&addresses, "192.0.2.1", now);
    assert_eq!(refused(&addresses, "192.0.2.1", now), Some(Refused::Flood));
    assert_eq!(
        refused(&addresses, "192.0.2.2", now),
        None,
        "only the address that floods"
    );
    addresses.address_at(ip("192.0.2.1"), now).keyed(now);
    assert_eq!(refused(&addresses, "192.0.2.1", now), None, "a key was used from it");
    let later = now.plus(KEYED_FOR);
    flood(&addresses, "192.0.2.1", later);
    assert_eq!(
        refused(&addresses, "192.0.2.1", later),
        Some(Refused::Flood),
        "long ago"
    );
    let quiet = later.plus(Duration::from_secs(1));
    assert_eq!(refused(&addresses, "192.0.2.1", quiet), None, "it stopped");
}

#[test]
fn some_refusals_are_answered_before_connections_are() {
    let addresses = Addresses::new(limits());
    let now = Moment::now();
    let address = addresses.address_at(ip("192.0.2.1"), now);
    while address.public(now).is_ok() {}
    assert_eq!(refused(&addresses, "192.0.2.1", now), None);
}

#[test]
fn wrong_keys_and_requests_without_one_have_buckets_of_their_own() {
    let addresses = Addresses::new(limits());
    let (now, address) = (Moment::now(), addresses.address(ip("192.0.2.1")));
    let failed = (0..100).filter(|_| address.failed_key(now).is_ok()).count();
    assert_eq!(failed, 1);
    assert!(!address.is_public_spent(now));
    let public = (0..100).filter(|_| address.public(now).is_ok()).count();
    assert_eq!(public, 10);
    assert!(address.is_public_spent(now));
    assert!(
        address.probe(now).is_ok(),
        "a load balancer sees the state all the same"
    );
}

#[test]
fn streams_of_an_address_are_bounded_and_given_back() {
    let addresses = Addresses::new(limits());
    let address = addresses.address(ip("192.0.2.1"));
    let open = [address.open_stream(), address.open_stream()];
    assert!(open.iter().all(Option::is_some));
    assert!(address.open_stream().is_none());
    assert!(addresses.address(ip("192.0.2.2")).open_stream().is_some());
    drop(open);
    assert!(address.open_stream().is_some());
}

#[test]
fn clients_of_a_proxy_have_so_many_requests_in_flight() {
    let addresses = Addresses::new(limits());
    let (now, address) = (Moment::now(), addresses.address(ip("192.0.2.1")));
    let flying: Vec<_> = (0..3).map(|_| address.begin_proxied(now)).collect();
    assert!(flying.iter().all(Option::is_some) && address.begin_proxied(now).is_none());
    drop(flying);
    assert!(address.begin_proxied(now).is_some());
}

#[test]
fn a_record_that_says_nothing_is_dropped_and_no_other_is() {
    let most = SHARDS * SWEEP_FROM * 8;
    let addresses = Addresses::with_most(limits(), most);
    let now = Moment::now();
    let connected = addresses.connect_at(ip("192.0.2.1"), now).expect("the first");
    let streaming = addresses.address_at(ip("192.0.2.2"), now).open_stream().expect("one");
    addresses.address_at(ip("192.0.2.3"), now).keyed(now);
    while addresses.address_at(ip("192.0.2.4"), now).public(now).is_ok() {}
    let newcomers = |from: u32, now| {
        for host in from..from + 20_000 {
            let _ = addresses.connect_at(Ipv4Addr::from_bits(0x0a00_0000 + 0x0100_0000 + host).into(), now);
        }
    };
    newcomers(0, now.plus(Duration::from_millis(1)));
    assert!(addresses.count() <= most, "{} records", addresses.count());
    let has = |text: &str| {
        let all = addresses.shards.iter();
        all.map(|shard| shard.lock().expect("no panic"))
            .any(|shard| shard.records.contains_key(&ip(text)))
    };
    assert!(
        ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]
            .into_iter()
            .all(has)
    );
    drop((connected, streaming));
    newcomers(50_000, now.plus(KEYED_FOR * 2));
    assert!(
        !["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]
            .into_iter()
            .any(has)
    );
}

#[test]
fn newcomers_beyond_the_table_share_one_record_and_known_ones_keep_theirs() {
    let addresses = Addresses::with_most(limits(), SHARDS * 2);
    let now = Moment::now();
    let first = addresses.connect_at(ip("192.0.2.1"), now).expect("the first");
    let mut open = vec![first];
    for host in 0..5_000 {
        open.extend(addresses.connect_at(Ipv4Addr::from_bits(0x0b00_0000 + host).into(), now));
    }
    // The addresses with a record, and three that share one.
    assert_eq!(addresses.count(), SHARDS * 2);
    assert_eq!(open.len(), SHARDS * 2 + 3);
    assert_eq!(refused(&addresses, "198.51.100.1", now), Some(Refused::TooMany));
    assert_eq!(refused(&addresses, "192.0.2.1", now), None);
}
