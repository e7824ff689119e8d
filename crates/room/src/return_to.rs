//! Where the waiting page may send a user: an address, and the origins that a room lists. Pure.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::form_urlencoded::{byte_serialize, parse};
use url::{Host, Url};

/// Longest address, in characters. With the pass after it, it is far below the limits of browsers and proxies.
pub const MAX_CHARS: usize = 2_000;
/// The parameter with the pass.
pub const PASS_PARAMETER: &str = "room_pass";

/// A checked address, in the form in which browsers read it (the URL Standard).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReturnTo(Url);

/// Why an address was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidReturnTo {
    /// Longer than [`MAX_CHARS`], as it is or with its characters encoded.
    #[error("must have at most {MAX_CHARS} characters")]
    TooLong,
    /// No scheme, another scheme, no host, or characters that programs read in different ways.
    #[error("must be an absolute http or https URL, without blanks, control characters and backslashes")]
    NoUrl,
    /// The pass would cross the network unencrypted.
    #[error("must be https, except for localhost and 127.0.0.1")]
    NotSecure,
    #[error("must name no user and no password")]
    UserInfo,
    #[error("must have no fragment (#)")]
    Fragment,
}

impl ReturnTo {
    /// Checks an address from a back end.
    pub fn parse(text: &str) -> Result<Self, InvalidReturnTo> {
        if text.len() > 4 * MAX_CHARS || text.chars().count() > MAX_CHARS {
            return Err(InvalidReturnTo::TooLong);
        }
        // Browsers repair many texts. An address that needs repair is a mistake or an attack.
        let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
        let absolute = lower.starts_with("https://") || lower.starts_with("http://");
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if !absolute || text.contains(odd) {
            return Err(InvalidReturnTo::NoUrl);
        }
        let mut url = Url::parse(text).map_err(|_| InvalidReturnTo::NoUrl)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidReturnTo::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(InvalidReturnTo::Fragment);
        }
        if !is_secure(&url) {
            return Err(InvalidReturnTo::NotSecure);
        }
        drop_pass(&mut url);
        if url.as_str().len() > MAX_CHARS {
            return Err(InvalidReturnTo::TooLong);
        }
        Ok(Self(url))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its origin, in the form of [`Origin`].
    pub fn origin(&self) -> Origin {
        Origin(self.0.origin().ascii_serialization())
    }

    /// Its host, and its port if it names one.
    pub fn site(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// The address with a pass, after its own parameters.
    pub fn with_pass(&self, pass: &str) -> String {
        let joint = match self.0.query() {
            None => "?",
            Some("") => "",
            Some(_) => "&",
        };
        let value: String = byte_serialize(pass.as_bytes()).collect();
        format!("{}{joint}{PASS_PARAMETER}={value}", self.0)
    }
}

/// Https, or http within the machine.
fn is_secure(url: &Url) -> bool {
    let local = matches!(url.host(), Some(Host::Domain("localhost"))) || url.host_str() == Some("127.0.0.1");
    url.scheme() == "https" || local
}

/// An origin in the form in which browsers name it (RFC 6454, 6.2): `scheme://host`, and the port unless it is the
/// scheme's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

/// Longest origin, in characters: the longest host name has 253.
pub const MAX_ORIGIN_CHARS: usize = 300;

/// Why an origin was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidOrigin {
    /// It has more than scheme, host and port.
    #[error(
        "must be an origin of at most {MAX_ORIGIN_CHARS} characters, such as https://shop.example or \
         https://shop.example:8443: a scheme, one host and perhaps a port, without path, user and wildcards"
    )]
    NoOrigin,
    /// Passes would cross the network unencrypted.
    #[error("must be https, except for localhost and 127.0.0.1")]
    NotSecure,
}

impl Origin {
    /// Checks an origin from an operator.
    pub fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        let (scheme, authority) = text.split_once("://").ok_or(InvalidOrigin::NoOrigin)?;
        // With any of these it would be more than an origin, or a text that browsers repair.
        let odd = |c: char| c.is_control() || c.is_whitespace() || "/\\?#@*".contains(c);
        if text.chars().count() > MAX_ORIGIN_CHARS || scheme.contains(odd) || authority.contains(odd) {
            return Err(InvalidOrigin::NoOrigin);
        }
        let url = Url::parse(text).map_err(|_| InvalidOrigin::NoOrigin)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(InvalidOrigin::NoOrigin);
        }
        if !is_secure(&url) {
            return Err(InvalidOrigin::NotSecure);
        }
        Ok(Self(url.origin().ascii_serialization()))
    }

    /// The origin as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Removes an earlier pass. A back end that uses its current page as the way back may send one. With two passes it
/// would be unclear which counts. The other parameters stay as they are written.
fn drop_pass(url: &mut Url) {
    let is_pass = |part: &str| parse(part.as_bytes()).any(|(name, _)| name == PASS_PARAMETER);
    let Some(query) = url.query() else { return };
    if query.split('&').any(is_pass) {
        let kept: Vec<_> = query.split('&').filter(|part| !is_pass(part)).collect();
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(&kept));
    }
}

impl TryFrom<String> for ReturnTo {
    type Error = InvalidReturnTo;

    fn try_from(text: String) -> Result<Self, InvalidReturnTo> {
        Self::parse(&text)
    }
}

impl From<ReturnTo> for String {
    fn from(address: ReturnTo) -> Self {
        address.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_pass(text: &str) -> String {
        ReturnTo::parse(text).unwrap().with_pass("a.b-c_d")
    }

    #[test]
    fn the_pass_comes_behind_what_is_there() {
        for (address, gone_to) in [
            ("https://shop.example", "https://shop.example/?room_pass=a.b-c_d"),
            (
                "https://shop.example/play",
                "https://shop.example/play?room_pass=a.b-c_d",
            ),
            ("https://shop.example/?", "https://shop.example/?room_pass=a.b-c_d"),
            (
                "https://shop.example:8443/p?a=1&b=%20+x&a=2",
                "https://shop.example:8443/p?a=1&b=%20+x&a=2&room_pass=a.b-c_d",
            ),
            (
                "https://shop.example/p?room_pass=old&a=1&room%5fpass=older",
                "https://shop.example/p?a=1&room_pass=a.b-c_d",
            ),
            (
                "https://shop.example/p?room_pass=old",
                "https://shop.example/p?room_pass=a.b-c_d",
            ),
            ("http://localhost:3000/p", "http://localhost:3000/p?room_pass=a.b-c_d"),
            ("http://127.0.0.1/p", "http://127.0.0.1/p?room_pass=a.b-c_d"),
            (
                "HTTPS://Bücher.example/ä",
                "https://xn--bcher-kva.example/%C3%A4?room_pass=a.b-c_d",
            ),
        ] {
            assert_eq!(with_pass(address), gone_to, "{address}");
        }
    }

    #[test]
    fn what_is_refused_is_named() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_CHARS));
        let grows = format!("https://a.example/{}", "ä".repeat(500));
        for (address, error) in [
            (long.as_str(), InvalidReturnTo::TooLong),
            (&grows, InvalidReturnTo::TooLong),
            ("", InvalidReturnTo::NoUrl),
            ("/play", InvalidReturnTo::NoUrl),
            ("//shop.example/play", InvalidReturnTo::NoUrl),
            ("https:shop.example", InvalidReturnTo::NoUrl),
            ("https:///shop.example\\@evil.example", InvalidReturnTo::NoUrl),
            ("https://", InvalidReturnTo::NoUrl),
            ("javascript:alert(1)", InvalidReturnTo::NoUrl),
            ("data:text/html,x", InvalidReturnTo::NoUrl),
            (" https://shop.example", InvalidReturnTo::NoUrl),
            ("https://shop.example/a b", InvalidReturnTo::NoUrl),
            ("https://shop.example/a\r\nb", InvalidReturnTo::NoUrl),
            ("https://shop.example:99999/", InvalidReturnTo::NoUrl),
            ("http://shop.example", InvalidReturnTo::NotSecure),
            ("http://localhost.example", InvalidReturnTo::NotSecure),
            ("http://127.0.0.1.example", InvalidReturnTo::NotSecure),
            ("https://ann@shop.example", InvalidReturnTo::UserInfo),
            ("https://shop.example@evil.example", InvalidReturnTo::UserInfo),
            ("https://:secret@shop.example", InvalidReturnTo::UserInfo),
            ("https://shop.example/#top", InvalidReturnTo::Fragment),
            ("https://shop.example/#", InvalidReturnTo::Fragment),
        ] {
            assert_eq!(ReturnTo::parse(address), Err(error), "{address}");
        }
    }

    #[test]
    fn an_origin_is_what_browsers_call_one() {
        for (text, origin) in [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example", "https://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("https://shop.example:8443", "https://shop.example:8443"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://[::1]:8443", "https://[::1]:8443"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
        ] {
            let parsed = Origin::parse(text);
            assert_eq!(parsed.as_ref().map(Origin::as_str), Ok(origin), "{text}");
            assert_eq!(Origin::parse(origin), parsed, "{text}");
        }
        let long = format!("https://{}.example", "x".repeat(MAX_ORIGIN_CHARS));
        for text in [
            long.as_str(),
            "",
            "shop.example",
            "//shop.example",
            "https:shop.example",
            "https://",
            "https://shop.example/",
            "https://shop.example/play",
            "https://shop.example?a",
            "https://shop.example#a",
            "https://ann@shop.example",
            "https://shop.example\\evil.example",
            "https://*.example",
            "https://shop.example:99999",
            " https://shop.example",
            "https://shop.example ",
            "ftp://shop.example",
            "null",
        ] {
            assert_eq!(Origin::parse(text), Err(InvalidOrigin::NoOrigin), "{text}");
        }
        for text in ["http://shop.example", "http://localhost.example", "http://127.0.0.2"] {
            assert_eq!(Origin::parse(text), Err(InvalidOrigin::NotSecure), "{text}");
        }
    }

    #[test]
    fn an_address_has_the_origin_that_a_room_lists() {
        for (address, origin) in [
            ("https://shop.example/play?a=1", "https://shop.example"),
            ("https://Shop.example:443", "https://shop.example"),
            ("https://shop.example:8443/p", "https://shop.example:8443"),
            ("http://localhost:3000/p", "http://localhost:3000"),
        ] {
            let address = ReturnTo::parse(address).unwrap();
            assert_eq!(address.origin(), Origin::parse(origin).unwrap());
        }
        let close = ReturnTo::parse("https://shop.example.evil.example/").unwrap();
        assert_ne!(close.origin(), Origin::parse("https://shop.example").unwrap());
    }

    #[test]
    fn a_checked_address_is_checked_again_alike() {
        let checked = ReturnTo::parse("https://shop.example/p?a=%C3%A4&b='").unwrap();
        let json = serde_json::to_string(&checked).unwrap();
        assert_eq!(serde_json::from_str::<ReturnTo>(&json).unwrap(), checked);
        assert!(serde_json::from_str::<ReturnTo>("\"ftp://shop.example\"").is_err());
        assert_eq!(checked.site(), "shop.example");
    }
}
