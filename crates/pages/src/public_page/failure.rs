//! The page that says why there is none.

use actix_web::HttpResponse;
use actix_web::http::header::{HeaderMap, RETRY_AFTER};
use jackpot_ui::Words;
use jackpot_ui::frame::Frame;
use maud::html;

use jackpot_kernel::http::html;
use jackpot_kernel::http::problem::Problem;

/// How long a reader should wait without other advice, in seconds.
const RETRY_S: u32 = 5;

/// Why a page is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The jackpot does not exist, or is not public. Nobody learns which.
    Missing,
    /// The service can't read it now. In how many seconds to try again.
    Away(u32),
    /// The page and the API do not fit.
    Broken,
}

impl Refusal {
    /// A refusal of the API.
    pub fn of(problem: &Problem) -> Self {
        Self::of_status(problem.code.status().as_u16(), problem.retry_after_s)
    }

    /// The same from its answer.
    pub fn of_answer(status: u16, headers: &HeaderMap) -> Self {
        let wait = headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        Self::of_status(status, wait.and_then(|wait| wait.parse().ok()))
    }

    fn of_status(status: u16, retry_after_s: Option<u32>) -> Self {
        match status {
            401 | 404 => Self::Missing,
            429 | 503 => Self::Away(retry_after_s.unwrap_or(RETRY_S).max(1)),
            _ => Self::Broken,
        }
    }

    /// Its page. One that may be there soon loads itself again.
    pub fn page(self, words: Words) -> HttpResponse {
        let (problem, name) = match self {
            Self::Missing => (Problem::not_found(), "public-missing"),
            Self::Away(_) => (Problem::store_unavailable(""), "public-away"),
            Self::Broken => (Problem::internal(), "public-broken"),
        };
        let heading = words.t(name);
        let head = match self {
            Self::Away(seconds) => Some(html! { meta http-equiv="refresh" content=(seconds); }),
            Self::Missing | Self::Broken => None,
        };
        let frame = Frame {
            head: head.as_ref(),
            ..Frame::new(words, &heading, "single")
        };
        let markup = frame.around(&html! {
            main {
                h1 { (heading) }
                p { (words.t(&format!("{name}-text"))) }
            }
        });
        let mut answer = html::page(problem.code.status(), words, markup);
        if let Self::Away(seconds) = self {
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_jackpot_and_a_missing_one_look_the_same() {
        for status in [401, 404] {
            assert_eq!(Refusal::of_status(status, None), Refusal::Missing);
        }
        assert_eq!(Refusal::of_status(503, Some(2)), Refusal::Away(2));
        assert_eq!(Refusal::of_status(429, Some(0)), Refusal::Away(1));
        assert_eq!(Refusal::of_status(422, None), Refusal::Broken);
    }
}
