//! The pass of an entry: `X-Room-Pass`, one for each waiting room.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpRequest};

use jackpot_kernel::http::Problem;
use jackpot_kernel::http::problem::FieldError;

const HEADER: HeaderName = HeaderName::from_static("x-room-pass");

/// The header, if it is there.
#[derive(Debug)]
pub(super) struct RoomPass(Option<HeaderValue>);

impl RoomPass {
    /// A header that is not text is an invalid pass, not a missing one.
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_ref().map(|value| value.to_str().unwrap_or_default())
    }
}

impl FromRequest for RoomPass {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mut headers = request.headers().get_all(HEADER);
        let first = headers.next().cloned();
        // With two passes it would be unclear which counts. So two passes are no pass, as two keys are no key.
        let pass = headers.next().map_or(first, |_| Some(HeaderValue::from_static("")));
        ready(Ok(Self(pass)))
    }
}

/// Most passes of a request: one for each jackpot that a play can feed.
const MAX_PASSES: usize = 16;

/// The passes of a play that feeds several jackpots: a header for each, or one with commas between them, as many
/// programs send repeated headers (RFC 9110, 5.3).
#[derive(Debug)]
pub(super) struct RoomPasses(Vec<String>);

impl RoomPasses {
    pub(super) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// A header that is not text is an invalid pass, not a missing one.
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(HEADER);
        let texts = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
        Self(texts.map(|pass| pass.trim().to_owned()).collect())
    }
}

impl FromRequest for RoomPasses {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let passes = Self::of(request.headers());
        if passes.0.len() > MAX_PASSES {
            let rule = format!("must be sent at most {MAX_PASSES} times, once for each waiting room");
            return ready(Err(Problem::invalid_request(vec![FieldError::new(
                "X-Room-Pass",
                rule,
            )])));
        }
        ready(Ok(passes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_come_in_headers_of_their_own_or_in_one() {
        let texts = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, HeaderValue::from_str(value).expect("a value"));
            }
            RoomPasses::of(&headers).0
        };
        assert_eq!(texts(&[]), [""; 0]);
        assert_eq!(texts(&["a.b.c", "d.e.f"]), ["a.b.c", "d.e.f"]);
        assert_eq!(texts(&["a.b.c, d.e.f"]), ["a.b.c", "d.e.f"]);
        assert_eq!(texts(&["é"]), [""], "an invalid pass");
    }
}
