//! JSON bodies: declared, bounded, well formed and of the right shape; or else a problem that says what is wrong.

use std::future::{Ready, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::Poll;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Data};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::Web;
use super::auth::{self, Caller};
use super::budget::{Budget, Full, Share};
use super::listener::state::{Asked, ConnectionState};
use super::objects::Objects;
use super::problem::Problem;
pub use super::teach::Described;
use super::{shape, teach, whole};

/// How long a client may take to send its body, because a slow one must not hold a connection for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// A JSON body. `T` is made of structs with `deny_unknown_fields`, which also refuse a repeated key. A map would
/// silently keep the last.
pub struct Body<T>(pub T);

impl<T: Described + 'static> FromRequest for Body<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Body<T>, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let checked = expected_length(request, T::LONGEST);
        let (connection, length) = (ConnectionState::of(request), content_length(request.headers()));
        let (payload, caller) = (payload.take(), auth::bound_caller(request));
        Box::pin(async move {
            let limit = checked?;
            let _receiving = connection.map(|connection| connection.receive(Asked::of(length, limit as u64)));
            let bytes = read(payload, limit).await?;
            let body: T = parse(&bytes)?;
            if let Some(caller) = caller {
                for (kind, id) in body.subjects() {
                    caller.check(kind, Some(id))?;
                }
            }
            Ok(Body(body))
        })
    }
}

/// Memory for large bodies that are being read or processed, in KiB: a hundred of the largest. Others wait unread.
const MAX_UNPARSED_KIB: usize = 256 * 1024;
/// The part of one key, 64 MiB: clients that announce large bodies and send none do not block other keys.
const MAX_UNPARSED_KIB_OF_KEY: usize = MAX_UNPARSED_KIB / 4;
static UNPARSED_KIB: LazyLock<Budget> = LazyLock::new(|| Budget::new(MAX_UNPARSED_KIB, MAX_UNPARSED_KIB_OF_KEY));

/// A JSON body of at most `LIMIT` bytes, not read or parsed yet. The handler decides where that work runs, because it
/// may be long, and for which key.
pub struct Unparsed<const LIMIT: usize> {
    payload: Payload,
    connection: Option<Rc<ConnectionState>>,
    /// The announced length.
    length: Option<u64>,
    /// The announced length, or the limit.
    most: usize,
}

fn crowded(full: Full) -> Problem {
    match full {
        Full::Key => Problem::rate_limited(
            BODY_TIMEOUT,
            "the large requests of this key take 64 MiB, the maximum of a key: repeat the same ids later",
        ),
        Full::All => {
            Problem::store_unavailable("the service works on too many large requests; repeat the same ids later")
        }
    }
}

impl<const LIMIT: usize> FromRequest for Unparsed<LIMIT> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let length = content_length(request.headers());
        let expected = length.and_then(|length| usize::try_from(length).ok());
        let (payload, connection) = (payload.take(), ConnectionState::of(request));
        ready(check_head(request, LIMIT).map(|limit| Self {
            payload,
            connection,
            length,
            most: expected.unwrap_or(limit).min(limit),
        }))
    }
}

impl<const LIMIT: usize> Unparsed<LIMIT> {
    /// The body, and its share of the memory for large bodies. Keep the share as long as the data made of the body.
    pub async fn read(self, caller: &Caller) -> Result<(Bytes, Share), Problem> {
        let kib = u32::try_from(self.most.div_ceil(1024)).map_err(|_| Problem::internal())?;
        let share = UNPARSED_KIB
            .wait(&caller.shared_name(), kib, BODY_TIMEOUT)
            .await
            .map_err(crowded)?;
        let asked = Asked::of(self.length, self.most as u64);
        let _receiving = self.connection.map(|connection| connection.receive(asked));
        let bytes = read(self.payload, self.most).await?;
        Ok((bytes, share))
    }
}

/// Checks the head of the request. Returns the limit in bytes.
fn expected_length(request: &HttpRequest, longest: usize) -> Result<usize, Problem> {
    let web = request.app_data::<Data<Web>>().ok_or_else(Problem::internal)?;
    check_head(request, web.max_body_bytes.max(longest))
}

/// Refuses a body that is compressed: nothing here would read it.
///
/// # Errors
/// 415 if it has a `Content-Encoding` other than `identity`.
pub fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut codings = headers.get_all(CONTENT_ENCODING);
    if codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    Err(Problem {
        detail: "send the body as it is: no Content-Encoding is read".to_owned(),
        ..Problem::unsupported_media_type()
    })
}

fn check_head(request: &HttpRequest, limit: usize) -> Result<usize, Problem> {
    check_coding(request.headers())?;
    if !is_json(request) {
        return Err(Problem::unsupported_media_type());
    }
    match content_length(request.headers()) {
        Some(length) if length > limit as u64 => Err(Problem::too_large(limit)),
        _ => Ok(limit),
    }
}

fn is_json(request: &HttpRequest) -> bool {
    // The usual value needs no parser.
    if request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes() == b"application/json")
    {
        return true;
    }
    let Ok(Some(media)) = request.mime_type() else {
        return false;
    };
    let utf8 = media
        .get_param("charset")
        .is_none_or(|charset| charset.as_str().eq_ignore_ascii_case("utf-8"));
    media.essence_str() == "application/json" && utf8
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body within its time limit. The server passes on a body after the handler's first turn. So only a body that
/// is not there by the second turn gets a timer.
async fn read(payload: Payload, limit: usize) -> Result<Bytes, Problem> {
    let mut reading = pin!(read_all(payload, limit));
    let mut waited = false;
    let soon = poll_fn(|context| match reading.as_mut().poll(context) {
        Poll::Pending if !waited => {
            waited = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
        polled => Poll::Ready(polled),
    });
    match soon.await {
        Poll::Ready(bytes) => bytes,
        Poll::Pending => tokio::time::timeout(BODY_TIMEOUT, reading)
            .await
            .map_err(|_| Problem::request_timeout(BODY_TIMEOUT))?,
    }
}

async fn read_all(mut payload: Payload, limit: usize) -> Result<Bytes, Problem> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        // The connection broke; nobody reads this answer.
        let chunk = chunk.map_err(|error| Problem::invalid_json(format!("the body ended early: {error}")))?;
        if body.len() + chunk.len() > limit {
            return Err(Problem::too_large(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Parses a body. A correct one is read without tracking its fields. Only a wrong one is read again, to name all
/// mistakes. A byte order mark before it is skipped (RFC 8259, 8.1).
pub fn parse<T: Described>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match quickly(bytes) {
        Some(body) => Ok(body),
        None if T::DIGITS_ALONE => carefully(bytes),
        None => carefully(&whole::numbers(bytes)),
    }
}

fn quickly<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_str(std::str::from_utf8(bytes).ok()?);
    let value = T::deserialize(Objects(&mut reader)).ok()?;
    reader.end().is_ok().then_some(value)
}

fn carefully<T: Described>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Objects(&mut reader));
    match value {
        Ok(value) => match reader.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(Problem::invalid_json(error.to_string())),
        },
        // The first mismatch may come before the text stops being JSON. The syntax error is reported then.
        Err(error) => Err(if let Some(reason) = malformed(bytes) {
            Problem::invalid_json(reason)
        } else {
            let first = shape::field_error(error.path(), &error.inner().to_string());
            Problem::invalid_request(teach::all::<T>(bytes, first))
        }),
    }
}

fn malformed(bytes: &[u8]) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str::<IgnoredAny>(text)
            .err()
            .map(|error| error.to_string()),
        Err(error) => Some(format!("not UTF-8 from byte {}", error.valid_up_to())),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use utoipa::ToSchema;

    use super::*;
    use crate::http::code::Code;

    impl Described for Outer {}

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it parses is looked at")]
    struct Outer {
        stake: i64,
        small: Option<u8>,
        #[serde(default)]
        inner: Vec<Inner>,
        prize: Option<Won>,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it parses is looked at")]
    struct Inner {
        tier: String,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only whether it parses is looked at")]
    enum Won {
        Fixed(Inner),
        Share { tier: String },
    }

    fn refused(body: &str) -> (&'static str, String) {
        let problem = parse::<Outer>(body.as_bytes()).expect_err(body);
        (
            problem.code.as_str(),
            problem.errors.first().map(|e| e.field.clone()).unwrap_or_default(),
        )
    }

    #[test]
    fn text_that_is_no_json_is_malformed() {
        for body in [
            "",
            "{",
            "{\"stake\":1}x",
            "{\"stake\":\"x\",",
            "{\"unknown\":1, \"stake\": }",
            "{\"stake\":01}",
            "nul",
        ] {
            assert_eq!(refused(body).0, "invalid-json", "{body}");
        }
        assert_eq!(
            parse::<Outer>(b"{\"stake\":1,\"\xff\":1}").unwrap_err().code,
            Code::InvalidJson
        );
    }

    #[test]
    fn integers_are_json_integers() {
        for value in [
            "1.5",
            "100.00000000000000000001",
            "9007199254740992.0",
            "true",
            "\"1\"",
            "null",
            "[1]",
            "9223372036854775808",
            "1e999",
        ] {
            assert_eq!(
                refused(&format!("{{\"stake\":{value}}}")),
                ("invalid-request", "stake".to_owned()),
                "{value}"
            );
        }
        assert_eq!(
            refused("{\"stake\":1,\"small\":256}"),
            ("invalid-request", "small".to_owned())
        );
        for (value, stake) in [("-5", -5), ("50.0", 50), ("1e3", 1_000), ("-0.0", 0)] {
            let body = format!(" {{\"stake\":{value},\"small\":{}}} ", "2.55e2");
            assert_eq!(parse::<Outer>(body.as_bytes()).unwrap().stake, stake, "{value}");
        }
        assert_eq!(refused("{\"stake\":1.0,\"small\":1.5}").1, "small");
        // The answer contains the rule, not the parser's description of the text.
        for (body, rule) in [
            ("{\"stake\":\"1\"}", "must be an integer"),
            ("{\"stake\":1,\"small\":-1}", "must be an integer from 0 to 255"),
        ] {
            assert_eq!(parse::<Outer>(body.as_bytes()).unwrap_err().errors[0].rule, rule);
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(parse::<Outer>(b"\xef\xbb\xbf{\"stake\":5}").unwrap().stake, 5);
        assert_eq!(
            refused("\u{feff}{\"stake\":\"5\"}"),
            ("invalid-request", "stake".to_owned())
        );
        for body in ["\u{feff}", "\u{feff}\u{feff}{\"stake\":5}", "{\u{feff}\"stake\":5}"] {
            assert_eq!(refused(body).0, "invalid-json", "{body}");
        }
    }

    #[test]
    fn the_field_is_named_with_its_path() {
        for (body, field) in [
            ("{}", "stake"),
            ("{\"stake\":1,\"steak\":2}", "steak"),
            ("{\"stake\":1,\"stake\":2}", "stake"),
            ("{\"stake\":1,\"inner\":[{\"tier\":\"a\"},{}]}", "inner[1].tier"),
            ("{\"stake\":1,\"inner\":[{\"tier\":\"a\",\"x\":1}]}", "inner[0].x"),
            ("{\"stake\":1,\"inner\":[{\"tier\":7}]}", "inner[0].tier"),
            ("{\"stake\":1,\"prize\":{\"fixed\":{}}}", "prize.fixed.tier"),
            (
                "{\"stake\":1,\"prize\":{\"fixed\":{\"tier\":\"a\"},\"fixed\":{\"tier\":\"a\"}}}",
                "prize",
            ),
            ("[]", ""),
            ("7", ""),
        ] {
            assert_eq!(refused(body), ("invalid-request", field.to_owned()), "{body}");
        }
    }

    #[test]
    fn an_array_is_no_object() {
        for (body, field) in [
            ("[1]", ""),
            ("[1,null,[],null]", ""),
            ("{\"stake\":1,\"inner\":[[\"a\"]]}", "inner[0]"),
            ("{\"stake\":1,\"inner\":[{\"tier\":\"a\"},[\"a\"]]}", "inner[1]"),
            ("{\"stake\":1,\"prize\":{\"fixed\":[\"a\"]}}", "prize.fixed"),
            ("{\"stake\":1,\"prize\":{\"share\":[\"a\"]}}", "prize.share"),
        ] {
            let problem = parse::<Outer>(body.as_bytes()).expect_err(body);
            assert_eq!(problem.code, Code::InvalidRequest, "{body}");
            assert_eq!(
                (problem.errors[0].field.as_str(), problem.errors[0].rule.as_str()),
                (field, "must be an object"),
                "{body}"
            );
        }
        assert!(parse::<Outer>(b"{\"stake\":1,\"prize\":{\"share\":{\"tier\":\"a\"}}}").is_ok());
    }

    #[test]
    fn long_names_are_cut() {
        let (_, field) = refused(&format!("{{\"{}\":1}}", "x".repeat(10_000)));
        assert!(field.chars().count() <= 201);
    }
}
