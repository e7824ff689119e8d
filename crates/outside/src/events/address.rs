//! Which addresses a webhook may have: only public ones, so that nobody makes the service talk to its neighbours. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use ipnet::{Ipv4Net, Ipv6Net};

/// Blocks of IANA's registry of special addresses, with multicast and reserved ones.
const REFUSED_V4: [&str; 16] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
];

/// The same of IPv6. Only `2000::/3` is given out at all; this list has what is special within it.
const REFUSED_V6: [&str; 4] = [
    // Teredo, ORCHID and others of 2001::/23
    "2001::/23",
    // documentation
    "2001:db8::/32",
    "3fff::/20",
    // AS112, which answers for private addresses
    "2620:4f:8000::/48",
];

static V4: LazyLock<Vec<Ipv4Net>> = LazyLock::new(|| REFUSED_V4.map(|net| net.parse().expect("a block")).to_vec());
static V6: LazyLock<Vec<Ipv6Net>> = LazyLock::new(|| REFUSED_V6.map(|net| net.parse().expect("a block")).to_vec());

/// Whether an address is reached over the internet, and not by a special rule.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !V4.iter().any(|net| net.contains(&address))
}

/// Addresses that hold an IPv4 address are as public as that one.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let within = |from: usize| {
        let ([a, b], [c, d]) = (segments[from].to_be_bytes(), segments[from + 1].to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // mapped, and NAT64 (RFC 6052)
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => within(6),
        // 6to4
        [0x2002, ..] => within(1),
        [first, ..] => (first & 0xe000) == 0x2000 && !V6.iter().any(|net| net.contains(&address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_allowed() {
        for refused in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(refused.parse().expect("an address")), "{refused}");
        }
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "223.255.255.255",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().expect("an address")), "{public}");
        }
    }
}
