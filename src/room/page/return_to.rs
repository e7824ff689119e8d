//! Where the waiting page sends a user who is let in. Pure.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::form_urlencoded::{byte_serialize, parse};
use url::{Host, Url};

/// Longest address, in characters: with the pass behind it still far below what browsers and proxies take.
pub const MAX_CHARS: usize = 2_000;
/// The parameter that takes the pass there.
pub const PASS_PARAMETER: &str = "room_pass";

/// An address that was checked, in the form in which browsers read it (the URL Standard).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReturnTo(Url);

/// What an address that was refused should have been.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidReturnTo {
    /// Longer than [`MAX_CHARS`], as it is or with its characters encoded.
    #[error("must have at most {MAX_CHARS} characters")]
    TooLong,
    /// No scheme, another one, no host, or characters that some read one way and some another.
    #[error("must be an absolute http or https URL, without blanks, control characters and backslashes")]
    NoUrl,
    /// The pass would go over the network for everybody to read.
    #[error("must be https, except for localhost and 127.0.0.1")]
    NotSecure,
    /// `https://user:password@host`.
    #[error("must name no user and no password")]
    UserInfo,
    /// What stands behind `#`.
    #[error("must have no fragment (#)")]
    Fragment,
}

impl ReturnTo {
    /// Checks an address that a back end sent.
    pub fn parse(text: &str) -> Result<Self, InvalidReturnTo> {
        if text.len() > 4 * MAX_CHARS || text.chars().count() > MAX_CHARS {
            return Err(InvalidReturnTo::TooLong);
        }
        // Browsers repair all kinds of text; what needs it is a mistake, or a trick.
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
        let local = matches!(url.host(), Some(Host::Domain("localhost"))) || url.host_str() == Some("127.0.0.1");
        if url.scheme() != "https" && !local {
            return Err(InvalidReturnTo::NotSecure);
        }
        drop_pass(&mut url);
        if url.as_str().len() > MAX_CHARS {
            return Err(InvalidReturnTo::TooLong);
        }
        Ok(Self(url))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its host, and its port where it names one.
    #[must_use]
    pub fn site(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// The address with a pass, behind the parameters that it has.
    #[must_use]
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

/// A pass of before, which a back end that names its present page as the way back would have in it: with two of them it
/// would be anyone's guess which counts. The other parameters stay as they are written.
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
    fn a_checked_address_is_checked_again_alike() {
        let checked = ReturnTo::parse("https://shop.example/p?a=%C3%A4&b='").unwrap();
        let json = serde_json::to_string(&checked).unwrap();
        assert_eq!(serde_json::from_str::<ReturnTo>(&json).unwrap(), checked);
        assert!(serde_json::from_str::<ReturnTo>("\"ftp://shop.example\"").is_err());
        assert_eq!(checked.site(), "shop.example");
    }
}
