//! Identifies the caller and checks its rights: `Authorization: Bearer <key>`, roles, bound keys, and the limit per
//! key.
//!
//! A handler requires a role by the type of its argument: [`Play`], [`Read`], [`Operate`], [`Approve`], [`PlayOrRead`], or
//! [`Anyone`] for what may be public. Put it before [`super::body::Body`], so that the body of an unknown caller is not
//! read, and that of a bound key names only its subjects ([`super::body::Described::subjects`]).
//!
//! A bound key gets through these only if the path names one of its subjects. A handler whose path names no subject, or
//! that answers about several, takes a type whose name ends with `Filtered`. It shows what [`Caller::own`] and
//! [`Caller::check`] allow. So a new route refuses bound keys until its author decides.

use std::future::{Ready, pending, ready};
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use jackpot_core::ids::Id;

use super::Web;
use super::inside::OfSession;
use super::limits::KeyLeft;
use super::problem::Problem;
pub use crate::keys::Role;
use crate::keys::{KnownKey, Subjects};
use crate::operator::Operator;
use crate::rate::{Left, Moment};
use crate::subject::kinds::{self, KindName};
use crate::telemetry::{Limit, request};

/// Longer keys can't be valid; they are not even hashed.
const MAX_KEY_LENGTH: usize = 256;

/// The caller of a request.
#[derive(Debug, Clone)]
pub struct Caller(Arc<KnownKey>);

impl Caller {
    /// The caller of a session that was opened with this key.
    pub fn of_session(known: Arc<KnownKey>) -> Self {
        Self(known)
    }

    /// Role of the key.
    pub fn role(&self) -> Role {
        self.0.key.role
    }

    /// Name of the key, for the audit trail.
    pub fn name(&self) -> &str {
        self.0.key.name.as_str()
    }

    /// Who holds the key.
    pub fn owner(&self) -> &str {
        self.0.key.owner()
    }

    /// Name of the key as shared text.
    pub fn shared_name(&self) -> Arc<str> {
        self.0.key.name.shared()
    }

    /// Whether answers to this caller hold the codes of coupons; else they are null.
    pub fn sees_codes(&self) -> bool {
        self.0.key.sees_codes()
    }

    /// The ids of this kind that a bound key may see, in order; `None`: all.
    pub fn own(&self, kind: KindName) -> Option<Vec<Id>> {
        let only = self.0.key.only.as_ref()?;
        Some(only.ids(kind).cloned().collect())
    }

    /// The same for all kinds.
    pub fn own_of_all_kinds(&self) -> Option<Vec<(KindName, Id)>> {
        let only = self.0.key.only.as_ref()?;
        Some(only.iter().map(|own| (own.kind, own.id.clone())).collect())
    }

    /// Whether the caller may see this subject.
    pub fn may_see(&self, kind: KindName, id: &str) -> bool {
        self.0.key.only.as_ref().is_none_or(|only| only.has(kind, id))
    }

    /// 403 for a parameter or a field that names a subject that a bound key may not name.
    pub fn check(&self, kind: KindName, id: Option<&Id>) -> Result<(), Problem> {
        match (&self.0.key.only, id) {
            (Some(only), Some(id)) if !only.has(kind, id.as_str()) => Err(wrong_subject(only)),
            _ => Ok(()),
        }
    }

    /// When the key ends.
    pub fn end(&self) -> KeyEnd {
        KeyEnd(Some(Arc::clone(&self.0)))
    }

    /// Whether the key has a role, or one that includes it.
    pub fn has_role(&self, role: Role) -> bool {
        self.0.key.role.allows(role)
    }

    /// The caller and its request, as events and the audit trail name them.
    pub fn operator(&self) -> Result<Operator, Problem> {
        let request_id = request::id().ok_or_else(Problem::internal)?;
        Ok(Operator {
            who: self.name().to_owned(),
            owner: self.owner().to_owned(),
            request_id: request_id.to_string(),
        })
    }

    fn may(self, needed: &[Role]) -> Result<Caller, Problem> {
        let role = self.0.key.role;
        if needed.iter().any(|needed| role.allows(*needed)) {
            return Ok(self);
        }
        let roles: Vec<_> = needed.iter().map(ToString::to_string).collect();
        Err(Problem::forbidden(format!(
            "this needs a key with the role {}; yours has {role}",
            roles.join(" or "),
        )))
    }

    /// Admits a bound key only if the path names one of its subjects.
    fn on_own_subject(self, request: &HttpRequest) -> Result<Caller, Problem> {
        match &self.0.key.only {
            Some(only) if !subject(request.path()).is_some_and(|(kind, id)| only.has(kind, id)) => {
                Err(wrong_subject(only))
            }
            _ => Ok(self),
        }
    }
}

/// The subject that a path names. An id that is written with escapes such as `%` is no subject.
fn subject(path: &str) -> Option<(KindName, &str)> {
    let (kind, rest) = path.strip_prefix("/v1/")?.split_once('/')?;
    let kind = kinds::all().find(|of| of.plural == kind)?;
    Some((kind, rest.split_once('/').map_or(rest, |(id, _)| id)))
}

fn wrong_subject(only: &Subjects) -> Problem {
    Problem::wrong_subject(format!(
        "this key may name only {only}: call a path that names one of them, or a list"
    ))
}

/// The time when a key is revoked or expires. Long answers, such as a stream, end then.
#[derive(Debug, Clone)]
pub struct KeyEnd(Option<Arc<KnownKey>>);

impl KeyEnd {
    /// Returns when the key has expired or was revoked; never for a caller without a key.
    pub async fn wait(self) {
        match self.0 {
            Some(known) => known.ended().await,
            None => pending().await,
        }
    }
}

/// Identifies the caller and counts the request against its limit; `None` without the header.
fn identify(request: &HttpRequest) -> Result<Option<Caller>, Problem> {
    let web = request.app_data::<Data<Web>>().ok_or_else(Problem::internal)?;
    let mut headers = request.headers().get_all(AUTHORIZATION);
    let Some(header) = headers.next() else {
        let of_session = request
            .extensions()
            .get::<OfSession>()
            .map(|of| Arc::clone(&of.caller.0));
        return of_session.map(|known| admit(web, request, known)).transpose();
    };
    // With two keys it would be unclear which one acts.
    if headers.next().is_some() {
        return Err(Problem::unauthorized());
    }
    let text = header
        .to_str()
        .ok()
        .and_then(bearer)
        .ok_or_else(Problem::unauthorized)?;
    let known = web.keys.find(text).ok_or_else(Problem::unauthorized)?;
    admit(web, request, known).map(Some)
}

/// Counts a request of this key against its limit.
fn admit(web: &Web, request: &HttpRequest, known: Arc<KnownKey>) -> Result<Caller, Problem> {
    request::caller(known.key.name.shared());
    let caller = Caller(known);
    if caller.0.key.only.is_some() {
        request.extensions_mut().insert(caller.clone());
    }
    let known = &caller.0;
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
    Ok(caller)
}

/// The caller with a bound key that an earlier argument has found.
pub(super) fn bound_caller(request: &HttpRequest) -> Option<Caller> {
    request.extensions().get::<Caller>().cloned()
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

fn require_own(request: &HttpRequest, needed: &[Role]) -> Result<Caller, Problem> {
    require(request, needed)?.on_own_subject(request)
}

macro_rules! extractor {
    ($(#[$about:meta])* $name:ident: $require:ident $($role:ident),+) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name(pub Caller);

        impl FromRequest for $name {
            type Error = Problem;
            type Future = Ready<Result<$name, Problem>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                ready($require(request, &[$(Role::$role),+]).map($name))
            }
        }
    };
}

/// A caller who may operate what the path names, and how events and the audit trail name it.
#[derive(Debug)]
pub struct Operate {
    pub caller: Caller,
    pub by: Operator,
}

impl FromRequest for Operate {
    type Error = Problem;
    type Future = Ready<Result<Operate, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = require_own(request, &[Role::Operate]);
        ready(caller.and_then(|caller| {
            Ok(Operate {
                by: caller.operator()?,
                caller,
            })
        }))
    }
}

extractor! {
    /// A caller who may approve what the path names.
    Approve: require_own Approve
}
extractor! {
    /// A caller who may operate. A bound key too: the handler checks what the request is about.
    OperateFiltered: require Operate
}
extractor! {
    /// A caller who may approve. A bound key too: the handler checks what the request is about.
    ApproveFiltered: require Approve
}
extractor! {
    /// A caller who may read, or approve what waits for an approval. A bound key too: the handler shows it only what it may
    /// see.
    ReadOrApproveFiltered: require Read, Approve
}
extractor! {
    /// A caller who may read what the path names, or approve what waits for an approval there.
    ReadOrApprove: require_own Read, Approve
}
extractor! {
    /// A caller who may read what the path names.
    Read: require_own Read
}
extractor! {
    /// A caller who may play what the path names.
    Play: require_own Play
}
extractor! {
    /// A caller who may play or read what the path names.
    PlayOrRead: require_own Play, Read
}
extractor! {
    /// A caller who may play. A bound key too: the handler lets it play only what it may name.
    PlayFiltered: require Play
}
extractor! {
    /// A caller who may play or operate what the path names.
    PlayOrOperate: require_own Play, Operate
}
extractor! {
    /// A caller who may read. A bound key too: the handler shows it only what it may see.
    ReadFiltered: require Read
}

/// Any caller, with or without a key. A key that is sent must be valid, and a bound one must fit the path.
#[derive(Debug)]
pub struct Anyone(Option<Caller>);

impl Anyone {
    /// Whether a key was sent. It is valid.
    pub fn has_key(&self) -> bool {
        self.0.is_some()
    }

    /// Requires a caller who may read, for what is not public: 401 without a key, 403 for a key that may not read.
    pub fn require_read(self) -> Result<Caller, Problem> {
        self.0.ok_or_else(Problem::unauthorized)?.may(&[Role::Read])
    }

    /// When the key ends, if there is one.
    pub fn end(&self) -> KeyEnd {
        KeyEnd(self.0.as_ref().map(|caller| Arc::clone(&caller.0)))
    }
}

impl FromRequest for Anyone {
    type Error = Problem;
    type Future = Ready<Result<Anyone, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let own = |caller: Option<Caller>| caller.map(|caller| caller.on_own_subject(request)).transpose();
        ready(identify(request).and_then(own).map(Anyone))
    }
}

/// Any caller, with or without a key, if the path names no subject. The handler shows a bound key only what it may see.
#[derive(Debug)]
pub struct AnyoneFiltered(Option<Caller>);

impl AnyoneFiltered {
    /// The caller, if it may read.
    pub fn reader(self) -> Option<Caller> {
        self.0?.may(&[Role::Read]).ok()
    }
}

impl FromRequest for AnyoneFiltered {
    type Error = Problem;
    type Future = Ready<Result<AnyoneFiltered, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(identify(request).map(AnyoneFiltered))
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;
    use crate::http::code::Code;
    use crate::keys::{RawKey, Rights, Subject};
    use crate::subject::kinds::{JACKPOT, ROOM};

    fn caller(rights: impl Into<Rights>) -> Caller {
        let key = RawKey::from_text("k").entry("n".parse().unwrap(), rights.into());
        Caller(Arc::new(KnownKey::of(key)))
    }

    fn bound(subjects: &[&str]) -> Caller {
        let all: Vec<Subject> = subjects.iter().map(|text| text.parse().unwrap()).collect();
        caller(Rights {
            only: Some(all.try_into().unwrap()),
            ..Role::Operate.into()
        })
    }

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
    fn operate_may_do_everything_but_approve_and_the_others_their_own() {
        let refused = |caller: Caller, needed: &[Role]| caller.may(needed).unwrap_err().code.status().as_u16() == 403;
        assert!(caller(Role::Operate).may(&[Role::Play]).is_ok());
        assert!(caller(Role::Read).may(&[Role::Play, Role::Read]).is_ok());
        assert!(refused(caller(Role::Play), &[Role::Read]));
        assert!(refused(caller(Role::Read), &[Role::Operate]));
        assert!(refused(caller(Role::Operate), &[Role::Approve]));
        for needed in [Role::Play, Role::Read, Role::Operate] {
            assert!(refused(caller(Role::Approve), &[needed]), "{needed}");
        }
    }

    #[test]
    fn a_key_without_an_owner_is_its_own() {
        assert_eq!(caller(Role::Approve).owner(), "n");
        let owned = Rights {
            owner: Some("bob".parse().unwrap()),
            ..Role::Approve.into()
        };
        assert_eq!(caller(owned).owner(), "bob");
    }

    #[test]
    fn a_bound_key_gets_through_where_the_path_names_its_subject() {
        let asks = |path: &str| {
            let request = TestRequest::with_uri(path).to_http_request();
            bound(&["jackpot:spring", "room:lobby"])
                .on_own_subject(&request)
                .is_ok()
        };
        for own in [
            "/v1/jackpots/spring",
            "/v1/jackpots/spring/entries/coupon",
            "/v1/rooms/lobby/tickets?x=/v1/jackpots/a",
        ] {
            assert!(asks(own), "{own}");
        }
        for other in [
            "/v1/jackpots/other",
            "/v1/jackpots/spring2",
            "/v1/jackpots",
            "/v1/jackpots/",
            "/v1/coupons/spring",
            "/v1/rooms/spring",
            "/v1/payouts/spring",
            "/v1/entries",
            "/v2/jackpots/spring",
            "/v1//jackpots/spring",
            "/x/v1/jackpots/spring",
            "/v1/jackpots/%2573pring",
            "/v1/jackpots/spring%2Fx",
            "/v1/jackpots//spring",
            "/readyz",
        ] {
            assert!(!asks(other), "{other}");
        }
        let request = TestRequest::with_uri("/v1/payouts").to_http_request();
        assert!(caller(Role::Read).on_own_subject(&request).is_ok(), "a free key");
    }

    #[test]
    fn a_parameter_names_a_subject_too() {
        let id = |text: &str| Some(Id::parse(text).unwrap());
        let key = bound(&["jackpot:spring", "coupon:a"]);
        assert!(key.check(JACKPOT, id("spring").as_ref()).is_ok());
        assert!(key.check(JACKPOT, None).is_ok());
        let refused = key.check(JACKPOT, id("a").as_ref()).unwrap_err();
        assert_eq!(refused.code, Code::WrongSubject);
        assert!(
            refused.detail.contains("coupon:a, jackpot:spring") || refused.detail.contains("jackpot:spring, coupon:a")
        );
        assert!(caller(Role::Read).check(ROOM, id("a").as_ref()).is_ok());
    }
}
