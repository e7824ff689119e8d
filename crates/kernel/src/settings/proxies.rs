//! The setting `http.trusted_proxies`: proxies whose header names the client.

use std::net::IpAddr;

use ipnet::IpNet;

/// Most networks: each connection is compared with all of them.
const MAX_NETWORKS: usize = 256;

/// Addresses and networks of proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Reads CIDR ranges (`10.0.0.0/8`) and single addresses.
    ///
    /// # Errors
    /// The first text that is neither, and the rule.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        if texts.len() > MAX_NETWORKS {
            return Err(format!(
                "has {} ranges, at most {MAX_NETWORKS} are allowed",
                texts.len()
            ));
        }
        texts.iter().map(|text| range(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this address is one of them. An IPv4 address in IPv6 form is the IPv4 address.
    pub fn trusts(&self, address: IpAddr) -> bool {
        // Most services have none, and each connection asks.
        !self.0.is_empty() && {
            let address = address.to_canonical();
            self.0.iter().any(|range| range.contains(&address))
        }
    }
}

fn range(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(|address| address.to_canonical().into());
    let range = address
        .or_else(|_| text.parse::<IpNet>())
        .map_err(|_| format!("{text:?} must be an address or a CIDR range, such as 10.0.0.0/8 or fd00::/8"))?;
    // 10.0.0.1/8 is probably a typing error: it means one address, but would trust 16 million.
    if range.addr() == range.network() {
        Ok(range)
    } else {
        Err(format!(
            "{text:?} has bits set beyond its prefix: write {}",
            range.trunc()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Proxies, String> {
        Proxies::parse(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn addresses_and_ranges_are_trusted_and_others_are_not() {
        let proxies = parse(&["10.0.0.0/8", "192.168.1.7", "fd00::/8", "::ffff:172.16.0.1"]).expect("they are right");
        let trusts = |text: &str| proxies.trusts(text.parse().expect("an address"));
        for text in ["10.200.0.1", "192.168.1.7", "fd12::1", "172.16.0.1", "::ffff:10.1.1.1"] {
            assert!(trusts(text), "{text}");
        }
        for text in ["11.0.0.1", "192.168.1.8", "fe80::1", "::1", "172.16.0.2"] {
            assert!(!trusts(text), "{text}");
        }
    }

    #[test]
    fn nobody_is_trusted_by_default() {
        assert!(!Proxies::default().trusts("127.0.0.1".parse().expect("an address")));
    }

    #[test]
    fn what_is_no_range_is_refused_by_name() {
        for text in [
            "10.0.0.0/33",
            "10.0.0/8",
            "proxy.example",
            "",
            "10.0.0.1 ",
            "10.0.0.1:80",
        ] {
            let error = parse(&["::1", text]).expect_err(text);
            assert!(
                error.contains(&format!("{text:?} must be an address or a CIDR range")),
                "{error}"
            );
        }
        let error = parse(&["10.0.0.1/8"]).expect_err("bits beyond the prefix");
        assert!(error.ends_with("write 10.0.0.0/8"), "{error}");
    }
}
