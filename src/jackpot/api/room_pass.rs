//! The pass of an entry: `X-Room-Pass`, one for each waiting room.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{FromRequest, HttpRequest};

use crate::http::problem::{FieldError, Problem};

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

/// The headers of a play that feeds several jackpots.
#[derive(Debug)]
pub(super) struct RoomPasses(Vec<HeaderValue>);

impl RoomPasses {
    /// A header that is not text is an invalid pass, not a missing one.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(|value| value.to_str().unwrap_or_default()).collect()
    }
}

impl FromRequest for RoomPasses {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let passes: Vec<_> = request.headers().get_all(HEADER).cloned().collect();
        if passes.len() > MAX_PASSES {
            let rule = format!("must be sent at most {MAX_PASSES} times, once for each waiting room");
            return ready(Err(Problem::invalid_request(vec![FieldError::new("X-Room-Pass", rule)])));
        }
        ready(Ok(Self(passes)))
    }
}
