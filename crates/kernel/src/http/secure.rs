//! Headers that protect an answer: not cached for others, not framed, not read as another type.

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, PERMISSIONS_POLICY,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

/// The purpose of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The API, for one caller: its answers include passes and tokens. Public answers set their own headers.
    Api,
    /// Pages of rooms, likewise.
    Room,
    Other,
}

/// Media types of answers that are sent while they are made.
const STREAMED: [&str; 3] = ["text/event-stream", "application/x-ndjson", "text/csv"];

const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const NOT_BUFFERED: HeaderValue = HeaderValue::from_static("no");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// No page here needs a device.
const NO_DEVICES: HeaderValue =
    HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()");
/// For a page without a policy of its own.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

impl Purpose {
    pub(super) fn of(path: &str) -> Self {
        if path.starts_with("/v1/") {
            Self::Api
        } else if path.starts_with("/rooms/") {
            Self::Room
        } else {
            Self::Other
        }
    }

    /// Adds the headers that an answer does not set itself.
    pub(super) fn secure(self, headers: &mut HeaderMap) {
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        if matches!(self, Self::Api | Self::Room) && !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, NO_STORE);
        }
        let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_page = kind.starts_with(b"text/html");
        if STREAMED.iter().any(|streamed| kind.starts_with(streamed.as_bytes())) {
            pass_on_as_it_comes(headers);
        }
        if self == Self::Api || !is_page {
            return;
        }
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, POLICY),
            (REFERRER_POLICY, NO_REFERRER),
            (COOP, SAME_ORIGIN),
            (PERMISSIONS_POLICY, NO_DEVICES),
        ] {
            if !headers.contains_key(&name) {
                headers.insert(name, value);
            }
        }
    }
}

/// Asks proxies to pass a stream on as it comes: nginx holds it back otherwise, and others compress it.
fn pass_on_as_it_comes(headers: &mut HeaderMap) {
    headers.insert(BUFFERING, NOT_BUFFERED);
    let own = headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
    let whole = own.map_or_else(|| "no-transform".to_owned(), |own| format!("{own}, no-transform"));
    if let Ok(whole) = HeaderValue::try_from(whole) {
        headers.insert(CACHE_CONTROL, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secured(path: &str, said: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
        Purpose::of(path).secure(&mut headers);
        headers
    }

    #[test]
    fn what_is_for_one_caller_is_kept_nowhere() {
        for path in ["/v1/rooms/lobby/tickets", "/v1/nothing", "/rooms/lobby/wait"] {
            let headers = secured(path, &[]);
            assert_eq!(headers.get(CACHE_CONTROL), Some(&NO_STORE), "{path}");
            assert_eq!(headers.get(X_CONTENT_TYPE_OPTIONS), Some(&NOSNIFF), "{path}");
        }
        let public = secured("/v1/rooms/lobby/status", &[(CACHE_CONTROL, "public, max-age=1")]);
        assert_eq!(public.get(CACHE_CONTROL).unwrap(), "public, max-age=1");
        assert!(!secured("/healthz", &[]).contains_key(CACHE_CONTROL));
    }

    #[test]
    fn no_proxy_holds_back_or_recodes_a_stream() {
        for kind in [
            "text/event-stream",
            "application/x-ndjson",
            "text/csv; charset=utf-8; header=present",
        ] {
            let own = [(CACHE_CONTROL, "no-store"), (CONTENT_TYPE, kind)];
            for headers in [
                secured("/v1/payouts", &own),
                secured("/v1/payouts", &own[1..]),
                secured("/console/live", &own),
            ] {
                assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-store, no-transform", "{kind}");
                assert_eq!(headers.get("x-accel-buffering").unwrap(), "no", "{kind}");
            }
        }
        assert!(!secured("/v1/payouts", &[(CONTENT_TYPE, "application/json")]).contains_key("x-accel-buffering"));
    }

    #[test]
    fn every_page_has_a_policy_and_keeps_its_own() {
        let page = secured("/page", &[(CONTENT_TYPE, "text/html; charset=utf-8")]);
        assert_eq!(page.get(CONTENT_SECURITY_POLICY), Some(&POLICY));
        assert_eq!(page.get(REFERRER_POLICY), Some(&NO_REFERRER));
        let own = [
            (CONTENT_TYPE, "text/html"),
            (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        ];
        assert_eq!(
            secured("/rooms/lobby/wait", &own).get(CONTENT_SECURITY_POLICY).unwrap(),
            "default-src 'none'"
        );
        assert!(!secured("/openapi.json", &[]).contains_key(CONTENT_SECURITY_POLICY));
    }
}
