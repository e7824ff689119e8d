//! Who calls, and whether they may: `Authorization: Bearer <key>`, roles, and the limit per key.
//!
//! A handler asks by its argument: [`Play`], [`Read`], [`Operate`], [`PlayOrRead`], or [`Anyone`] for what may be
//! public. Put it before [`super::body::Body`], so that a stranger's body is not even read.

use std::future::{Ready, ready};
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};

use super::Web;
use super::limits::KeyLeft;
use super::problem::Problem;
use super::request_id::RequestId;
pub use crate::keys::Role;
use crate::operator::Operator;
use crate::rate::{Left, Moment};
use crate::telemetry::{Limit, request};

/// Longer keys are none of ours; they are not even hashed.
const MAX_KEY_LENGTH: usize = 256;

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Name of the key, for the audit trail.
    pub name: Arc<str>,
    /// What the key is for.
    pub role: Role,
}

impl Caller {
    fn may(self, needed: &[Role]) -> Result<Caller, Problem> {
        if needed.iter().any(|role| self.role.allows(*role)) {
            return Ok(self);
        }
        let roles: Vec<_> = needed.iter().map(ToString::to_string).collect();
        Err(Problem::forbidden(format!(
            "this needs a key with the role {}; yours has {}",
            roles.join(" or "),
            self.role
        )))
    }
}

/// The caller as events and the audit trail name it.
#[must_use]
pub fn operator(caller: Caller, request_id: &RequestId) -> Operator {
    let Caller { name, .. } = caller;
    Operator {
        who: name.as_ref().to_owned(),
        request_id: request_id.as_str().to_owned(),
    }
}

/// Identifies the caller and counts the request against its limit; `None` without the header.
fn identify(request: &HttpRequest) -> Result<Option<Caller>, Problem> {
    let web = request.app_data::<Data<Web>>().ok_or_else(Problem::internal)?;
    let mut headers = request.headers().get_all(AUTHORIZATION);
    let Some(header) = headers.next() else {
        return Ok(None);
    };
    // With two keys it would be anyone's guess which of them acts.
    if headers.next().is_some() {
        return Err(Problem::unauthorized());
    }
    let text = header
        .to_str()
        .ok()
        .and_then(bearer)
        .ok_or_else(Problem::unauthorized)?;
    let known = web.keys.find(text).ok_or_else(Problem::unauthorized)?;
    request::caller(known.key.name.shared());
    match known.admit(Moment::now()) {
        Ok(None) => {}
        Ok(Some((rate, left))) => {
            request.extensions_mut().insert(KeyLeft(rate, left));
        }
        Err((rate, wait)) => {
            let left = Left {
                tokens: 0,
                full_in: wait,
            };
            request.extensions_mut().insert(KeyLeft(rate, left));
            web.metrics.rate_limited(Limit::Key);
            return Err(Problem::rate_limited(wait, "this key makes too many requests"));
        }
    }
    Ok(Some(Caller {
        name: known.key.name.shared(),
        role: known.key.role,
    }))
}

/// Whether a valid key is sent.
pub(super) fn is_known(web: &Web, headers: &HeaderMap) -> bool {
    let text = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    text.and_then(bearer).is_some_and(|key| web.keys.find(key).is_some())
}

/// RFC 6750, 2.1; the scheme's case does not matter (RFC 9110, 11.1).
fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && (1..=MAX_KEY_LENGTH).contains(&key.len())).then_some(key)
}

fn require(request: &HttpRequest, needed: &[Role]) -> Result<Caller, Problem> {
    identify(request)?.ok_or_else(Problem::unauthorized)?.may(needed)
}

macro_rules! extractor {
    ($(#[$about:meta])* $name:ident: $($role:ident),+) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name(pub Caller);

        impl FromRequest for $name {
            type Error = Problem;
            type Future = Ready<Result<$name, Problem>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                ready(require(request, &[$(Role::$role),+]).map($name))
            }
        }
    };
}

extractor! {
    /// A caller who may operate.
    Operate: Operate
}
extractor! {
    /// A caller who may read.
    Read: Read
}
extractor! {
    /// A caller who may play.
    Play: Play
}
extractor! {
    /// A caller who may play or read.
    PlayOrRead: Play, Read
}

/// Any caller, or none. A key that is sent must be valid all the same.
#[derive(Debug)]
pub struct Anyone(Option<Caller>);

impl Anyone {
    /// Whether a key was sent; it is valid then.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.0.is_some()
    }

    /// For what turns out not to be public: 401 without a key, 403 with one that may not read.
    pub fn require_read(self) -> Result<Caller, Problem> {
        self.0.ok_or_else(Problem::unauthorized)?.may(&[Role::Read])
    }

    /// Whether it is one who may read.
    #[must_use]
    pub fn may_read(&self) -> bool {
        self.0.as_ref().is_some_and(|caller| caller.role.allows(Role::Read))
    }
}

impl FromRequest for Anyone {
    type Error = Problem;
    type Future = Ready<Result<Anyone, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(identify(request).map(Anyone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_key_of_sane_length_counts() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer abc"), Some("abc"));
        for header in ["abc", "Basic abc", "Bearer ", "Bearer"] {
            assert_eq!(bearer(header), None, "{header}");
        }
        assert_eq!(bearer(&format!("Bearer {}", "x".repeat(257))), None);
    }

    #[test]
    fn operate_may_do_everything_and_the_others_their_own() {
        let caller = |role| Caller { name: "n".into(), role };
        assert!(caller(Role::Operate).may(&[Role::Play]).is_ok());
        assert!(caller(Role::Read).may(&[Role::Play, Role::Read]).is_ok());
        assert_eq!(caller(Role::Play).may(&[Role::Read]).unwrap_err().status.as_u16(), 403);
        assert_eq!(
            caller(Role::Read).may(&[Role::Operate]).unwrap_err().status.as_u16(),
            403
        );
    }
}
