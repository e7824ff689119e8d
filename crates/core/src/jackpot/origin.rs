//! Web origins as browsers send them in the header `Origin`: `scheme://host[:port]` (RFC 6454, 6.2). They are compared as
//! texts, so a definition must spell them as a browser does.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Longest origin: `https://`, a host name (RFC 1035, 2.3.4), `:65535`.
pub const MAX_CHARS: usize = 8 + MAX_HOST + 6;
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

/// Schemes of web pages, each with the port that browsers leave out.
const SCHEMES: [(&str, &str); 2] = [("http://", "80"), ("https://", "443")];

/// The rule that a text breaks, if it is no origin.
#[must_use]
pub fn wrong(text: &str) -> Option<&'static str> {
    let found = SCHEMES
        .iter()
        .find_map(|(scheme, own)| Some((text.strip_prefix(scheme)?, *own)));
    let Some((rest, own_port)) = found else {
        return Some("must be scheme://host[:port] with http or https, such as https://games.example");
    };
    let (host, port) = split(rest);
    if !is_host(host) {
        return Some("must have a host name in small letters or an address after its scheme, and no user, path or *");
    }
    match port {
        None => None,
        Some(port) if port == own_port => Some("must leave out the port of its scheme, as browsers do"),
        Some(port) if is_port(port) => None,
        Some(_) => Some("must end with its host, or with a port from 1 to 65535: no path, no / at the end"),
    }
}

/// Host and port. The host of an IPv6 address is in brackets.
fn split(rest: &str) -> (&str, Option<&str>) {
    let begin = rest.find(']').unwrap_or(0);
    match rest[begin..].find(':') {
        Some(at) => (&rest[..begin + at], Some(&rest[begin + at + 1..])),
        None => (rest, None),
    }
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // Browsers send the shortest form.
        return address
            .parse::<Ipv6Addr>()
            .is_ok_and(|parsed| parsed.to_string() == address);
    }
    let is_label = |label: &str| {
        let letters = label
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
        letters && (1..=MAX_LABEL).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    // A browser takes a last label of digits for the end of an IPv4 address.
    let is_address = last.bytes().all(|b| b.is_ascii_digit());
    host.len() <= MAX_HOST && host.split('.').all(is_label) && (!is_address || host.parse::<Ipv4Addr>().is_ok())
}

fn is_port(port: &str) -> bool {
    port.parse::<u16>()
        .is_ok_and(|number| number > 0 && number.to_string() == port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_sends() {
        for origin in [
            "https://games.example",
            "http://localhost:3000",
            "http://localhost",
            "https://games.example:8443",
            "http://games.example:443",
            "https://xn--9n2bp8q.example",
            "http://192.168.0.7:8080",
            "http://[::1]:3000",
            "https://a-b.c_d.example",
        ] {
            assert_eq!(wrong(origin), None, "{origin}");
        }
        let longest = format!(
            "https://{}:65535",
            [&"a".repeat(63); 4].map(String::as_str).join(".").split_off(2)
        );
        assert_eq!((longest.len(), wrong(&longest)), (MAX_CHARS, None));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "*",
            "null",
            "games.example",
            "ftp://games.example",
            "HTTPS://games.example",
            "https://Games.example",
            "https://",
            "https://games.example/",
            "https://games.example/path",
            "https://games.example:8443/",
            "https://games.example?x",
            "https://games.example#x",
            "https://u@games.example",
            "https://u:p@games.example",
            "https://*.example",
            "https://games..example",
            "https://games.example.",
            "https://-games.example",
            "https://games.example:",
            "https://games.example:0",
            "https://games.example:080",
            "https://games.example:+80",
            "https://games.example:65536",
            "https://games.example:443",
            "http://games.example:80",
            "https://games.example ",
            " https://games.example",
            "https://spiel\u{e9}.example",
            "http://192.168.0.300",
            "http://1.2.3",
            "http://[::0001]",
            "http://[::1",
            "http://::1",
            "https://games.example,https://other.example",
        ] {
            assert!(wrong(text).is_some(), "{text}");
        }
        let long = format!("https://{}", ["a"; 128].join("."));
        assert!(wrong(&long).is_some());
    }
}
