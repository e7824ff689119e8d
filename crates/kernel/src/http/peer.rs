//! The client of a request: the address at the other end of the connection; or, if that is a trusted proxy, the address
//! that its header names.
//!
//! Proxies append to `X-Forwarded-For` (or add an element to `Forwarded`, RFC 7239) the address from which they got the
//! request. They keep what a client wrote before it. So the walk goes from the right, past trusted proxies, to the
//! first other address. A client can invent everything to the left of that address. A text that is no address (garbage,
//! `unknown`, an obfuscated identifier) ends the walk at the proxy that wrote it. A proxy itself has no limit.
//!
//! If both headers are there, `X-Forwarded-For` counts: nearly all proxies write that one and pass a client's
//! `Forwarded` on unchanged. A proxy that writes only `Forwarded` must drop the other one.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::{IpAddr, SocketAddr};

use actix_web::dev::Payload;
use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue, X_FORWARDED_FOR};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};

use super::Web;
use super::addresses::{Address, Connected};
use crate::settings::Proxies;

/// Most proxies of a walk. Elements further left are ignored.
const MAX_HOPS: usize = 32;

#[derive(Debug, Clone)]
pub struct Peer {
    /// `None` for a proxy that names no client.
    pub address: Option<Address>,
    /// Whether a proxy named it. Then the connection counts for nobody.
    pub is_proxied: bool,
}

/// The client of a request. Without a proxy it is the connection's address, and headers are ignored.
pub(super) fn of<'a>(web: &Web, request: &'a HttpRequest) -> (Option<Cow<'a, Address>>, bool) {
    let connected = request.conn_data::<Connected>();
    if let Some(address) = connected.and_then(Connected::address) {
        return (Some(Cow::Borrowed(address)), false);
    }
    let addresses = &web.addresses;
    let Some(peer) = request.peer_addr() else {
        return (None, false);
    };
    let proxies = &addresses.limits().proxies;
    if proxies.trusts(peer.ip()) {
        let named = named(request.headers(), proxies);
        return (named.map(|client| Cow::Owned(addresses.address(client))), true);
    }
    (Some(Cow::Owned(addresses.address(peer.ip()))), false)
}

impl FromRequest for Peer {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let web = request.app_data::<Data<Web>>();
        let (address, is_proxied) = web.map_or((None, false), |web| of(web, request));
        ready(Ok(Self {
            address: address.map(Cow::into_owned),
            is_proxied,
        }))
    }
}

/// Whether a trusted proxy took the request over TLS.
pub fn is_proxied_tls(request: &HttpRequest) -> bool {
    let is_named = || {
        let web = request.app_data::<Data<Web>>()?;
        let proxies = &web.addresses.limits().proxies;
        Some(proxies.trusts(request.peer_addr()?.ip()) && is_named_tls(request.headers(), proxies))
    };
    is_named().unwrap_or(false)
}

/// Whether trusted proxies say that the client used TLS. `Forwarded` counts where no header beside it does.
fn is_named_tls(headers: &HeaderMap, proxies: &Proxies) -> bool {
    if let Some(scheme) = headers.get("x-forwarded-proto") {
        return scheme.as_bytes().eq_ignore_ascii_case(b"https");
    }
    if headers.contains_key(X_FORWARDED_FOR) {
        return false;
    }
    let lines: Vec<_> = headers
        .get_all(FORWARDED)
        .map(|line| line.to_str().unwrap_or(""))
        .collect();
    let elements: Vec<_> = lines.iter().flat_map(|line| split(line, ',')).collect();
    let mut walk = elements.into_iter().rev().take(MAX_HOPS).peekable();
    while let Some(element) = walk.next() {
        let is_proxy = value_of(element, "for")
            .and_then(node)
            .is_some_and(|hop| proxies.trusts(hop));
        if !is_proxy || walk.peek().is_none() {
            return value_of(element, "proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        }
    }
    false
}

/// The client that trusted proxies name.
fn named(headers: &HeaderMap, proxies: &Proxies) -> Option<IpAddr> {
    let client = |hops: Vec<Option<IpAddr>>| {
        let last_known = hops.into_iter().rev().take(MAX_HOPS).map_while(|hop| hop);
        last_known.into_iter().find(|hop| !proxies.trusts(*hop))
    };
    if headers.contains_key(X_FORWARDED_FOR) {
        client(hops(headers, &X_FORWARDED_FOR, x_forwarded_for))
    } else {
        client(hops(headers, &FORWARDED, forwarded))
    }
}

/// The hops of all lines of a header, in order; `None` for a hop that is no address.
fn hops(headers: &HeaderMap, name: &HeaderName, of_line: fn(&str) -> Vec<Option<IpAddr>>) -> Vec<Option<IpAddr>> {
    let of_value = |value: &HeaderValue| value.to_str().map_or_else(|_| vec![None], of_line);
    headers.get_all(name).flat_map(of_value).collect()
}

fn x_forwarded_for(line: &str) -> Vec<Option<IpAddr>> {
    line.split(',').map(|hop| node(hop.trim())).collect()
}

fn forwarded(line: &str) -> Vec<Option<IpAddr>> {
    let elements = split(line, ',').into_iter();
    elements
        .map(|element| value_of(element, "for").and_then(node))
        .collect()
}

/// RFC 7239, 4: elements with commas between them, pairs with semicolons, values as tokens or quoted.
fn value_of<'a>(element: &'a str, wanted: &str) -> Option<&'a str> {
    let mut values = split(element, ';').into_iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
    });
    let value = values.next()?;
    // With two values it would be unclear which counts.
    if values.next().is_some() {
        return None;
    }
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Some(quoted.unwrap_or(value))
}

/// Parts between separators that are not in quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c| {
        let separates = c == separator && !quoted;
        if escaped {
            escaped = false;
        } else if quoted && c == '\\' {
            escaped = true;
        } else if c == '"' {
            quoted = !quoted;
        }
        separates
    })
    .collect()
}

/// RFC 7239, 6: an address, IPv6 in brackets, with or without a port. `X-Forwarded-For` has IPv6 without brackets too.
fn node(text: &str) -> Option<IpAddr> {
    let plain = || text.parse::<IpAddr>().ok();
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    plain().or_else(bracketed).or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> Proxies {
        Proxies::parse(&["10.0.0.0/8", "fd00::/8"].map(str::to_owned)).expect("ranges")
    }

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_str(value).expect("a value");
            headers.append(HeaderName::from_static(name), value);
        }
        headers
    }

    fn client(lines: &[(&'static str, &str)]) -> Option<String> {
        named(&headers(lines), &proxies()).map(|client| client.to_string())
    }

    fn by_forwarded(value: &str) -> Option<String> {
        client(&[("forwarded", value)])
    }

    fn by_list(value: &str) -> Option<String> {
        client(&[("x-forwarded-for", value)])
    }

    #[test]
    fn the_first_from_the_right_that_is_no_trusted_proxy_is_the_client() {
        let is = |value: &str, client: &str| assert_eq!(by_list(value).as_deref(), Some(client), "{value}");
        is("192.0.2.1", "192.0.2.1");
        is("192.0.2.1, 10.0.0.1", "192.0.2.1");
        is("198.51.100.9, 192.0.2.1 , 10.0.0.1,10.0.0.2", "192.0.2.1");
        is("garbage, 192.0.2.1", "192.0.2.1");
        is("2001:db8::7", "2001:db8::7");
        is("[2001:db8::7]:443, fd00::1", "2001:db8::7");
        is("192.0.2.1:4711", "192.0.2.1");
        let two_lines = [
            ("x-forwarded-for", "198.51.100.9"),
            ("x-forwarded-for", "192.0.2.1, 10.0.0.1"),
        ];
        assert_eq!(client(&two_lines).as_deref(), Some("192.0.2.1"));
    }

    #[test]
    fn forwarded_is_read_as_its_rfc_has_it() {
        let is = |value: &str, client: &str| assert_eq!(by_forwarded(value).as_deref(), Some(client), "{value}");
        is("for=192.0.2.43", "192.0.2.43");
        is("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17");
        is("for=\"[2001:db8:cafe::17]\"", "2001:db8:cafe::17");
        is("for=\"192.0.2.43:47011\"", "192.0.2.43");
        is("for=192.0.2.43;proto=http;by=203.0.113.43, for=10.0.0.1", "192.0.2.43");
        is("proto=https ; for=192.0.2.43", "192.0.2.43");
        is(
            "for=198.51.100.9;secret=\"a,b;for=1.2.3.4\", for=192.0.2.43;by=\"_x\\\"y,\"",
            "192.0.2.43",
        );
    }

    #[test]
    fn what_is_no_address_ends_the_walk_at_the_proxy() {
        for value in [
            "unknown",
            "_hidden",
            "",
            "192.0.2.1, unknown",
            "192.0.2.1, garbage, 10.0.0.1",
            "192.0.2.1,",
            "192.0.2.256",
            "10.0.0.1, 10.0.0.2",
        ] {
            assert_eq!(by_list(value), None, "{value}");
        }
        for value in [
            "for=unknown",
            "for=_gazonk",
            "for=192.0.2.1, for=\"_hidden\"",
            "for=192.0.2.1, proto=https",
            "for=192.0.2.1;for=192.0.2.2",
            "192.0.2.1",
            "for=\"192.0.2.1",
            "",
        ] {
            assert_eq!(by_forwarded(value), None, "{value}");
        }
        assert_eq!(client(&[]), None);
    }

    #[test]
    fn a_header_that_the_proxy_does_not_write_does_not_count_beside_the_one_it_writes() {
        let both = [("forwarded", "for=203.0.113.9"), ("x-forwarded-for", "192.0.2.1")];
        assert_eq!(client(&both).as_deref(), Some("192.0.2.1"));
        let hidden = [("forwarded", "for=203.0.113.9"), ("x-forwarded-for", "unknown")];
        assert_eq!(client(&hidden), None);
    }

    fn takes_tls(lines: &[(&'static str, &str)]) -> bool {
        is_named_tls(&headers(lines), &proxies())
    }

    #[test]
    fn the_scheme_is_the_one_that_the_client_used() {
        for value in [
            "proto=https",
            "for=192.0.2.43;proto=https;by=203.0.113.43",
            "for=192.0.2.43; Proto=\"HTTPS\"",
            "for=192.0.2.43;proto=https, for=10.0.0.1;proto=http",
            "for=198.51.100.9;proto=http, for=192.0.2.43;proto=https",
            "for=_hidden;proto=https",
            "for=10.0.0.2;proto=https, for=10.0.0.1;proto=http",
        ] {
            assert!(takes_tls(&[("forwarded", value)]), "{value}");
        }
        for value in [
            "for=192.0.2.43",
            "proto=http",
            "for=192.0.2.43;proto=http, for=10.0.0.1;proto=https",
            "for=198.51.100.9;proto=https, for=192.0.2.43;proto=http",
            "for=198.51.100.9;proto=https, for=192.0.2.43",
            "proto=https;proto=http",
            "",
        ] {
            assert!(!takes_tls(&[("forwarded", value)]), "{value}");
        }
        assert!(takes_tls(&[("x-forwarded-proto", "https")]));
        // A proxy that writes the other headers passes a client's `Forwarded` on.
        for written in [("x-forwarded-proto", "http"), ("x-forwarded-for", "192.0.2.43")] {
            assert!(!takes_tls(&[("forwarded", "proto=https"), written]), "{written:?}");
        }
    }

    #[test]
    fn a_walk_ends() {
        let long = "10.0.0.1, ".repeat(10_000) + "10.0.0.1";
        assert_eq!(by_list(&format!("192.0.2.1, {long}")), None);
    }
}
