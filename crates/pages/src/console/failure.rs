//! What a page shows when it can't show what was asked for.

use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use jackpot_ui::Words;
use jackpot_ui::frame::Frame;
use maud::html;
use url::form_urlencoded;

use jackpot_kernel::http::html;
use jackpot_kernel::http::problem::{Problem, ProblemBody};
use jackpot_kernel::telemetry::request;

/// Why a page is not shown.
#[derive(Debug)]
pub enum Failure {
    /// Nobody is signed in. `next`: the page to show after that.
    SignIn { next: Option<String> },
    /// The page, or what it is about, is refused or away.
    Refused(Box<Refused>),
}

/// A refusal, as its page says it.
#[derive(Debug)]
pub struct Refused {
    words: Words,
    status: StatusCode,
    heading: String,
    text: String,
    retry_after_s: Option<u32>,
}

impl Failure {
    fn refused(words: Words, status: StatusCode, heading: String, text: String) -> Refused {
        Refused {
            words,
            status,
            heading,
            text,
            retry_after_s: None,
        }
    }

    /// `name`: of the texts `{name}` and `{name}-text`.
    pub fn new(words: Words, status: StatusCode, name: &str) -> Self {
        let text = words.t(&format!("{name}-text"));
        Self::Refused(Box::new(Self::refused(words, status, words.t(name), text)))
    }

    /// Too many tries.
    pub fn too_many(words: Words, wait_s: u64) -> Self {
        let text = words.tv("failure-too-many-text", [("seconds", wait_s.into())]);
        let heading = words.t("failure-too-many");
        let mut refused = Self::refused(words, StatusCode::TOO_MANY_REQUESTS, heading, text);
        refused.retry_after_s = Some(u32::try_from(wait_s).unwrap_or(u32::MAX));
        Self::Refused(Box::new(refused))
    }

    /// The API's refusal.
    pub fn of_api(words: Words, problem: ProblemBody) -> Self {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::Refused(Box::new(Self::refused(words, status, problem.title, problem.detail)))
    }

    /// A refusal of the framework's arguments, such as an id that is no id.
    pub fn of_problem(words: Words, problem: &Problem) -> Self {
        let status = problem.code.status();
        let heading = match status {
            StatusCode::NOT_FOUND => "failure-no-page",
            _ => "failure-request",
        };
        let mut refused = Self::refused(words, status, words.t(heading), problem.detail.clone());
        refused.retry_after_s = problem.retry_after_s;
        Self::Refused(Box::new(refused))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SignIn { .. } => f.write_str("nobody is signed in"),
            Self::Refused(refused) => write!(f, "{}: {}", refused.heading, refused.text),
        }
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::SignIn { .. } => StatusCode::SEE_OTHER,
            Self::Refused(refused) => refused.status,
        }
    }

    fn error_response(&self) -> HttpResponse {
        match self {
            Self::SignIn { next } => HttpResponse::SeeOther()
                .insert_header((LOCATION, sign_in_path(next.as_deref())))
                .finish(),
            Self::Refused(refused) => refused.page(),
        }
    }
}

/// The path of the form, which then leads to `next`.
fn sign_in_path(next: Option<&str>) -> String {
    match next {
        Some(next) => {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("next", next)
                .finish();
            format!("/console/sign-in?{query}")
        }
        None => "/console/sign-in".to_owned(),
    }
}

impl Refused {
    fn page(&self) -> HttpResponse {
        let words = self.words;
        let frame = Frame::new(words, &self.heading, "single");
        let id = request::id();
        let markup = frame.around(&html! {
            main {
                h1 { (self.heading) }
                p role="alert" { (self.text) }
                @if let Some(id) = id { p.hint { (words.t("failure-request-id")) " " code { (id) } } }
                p { a href="/console/" { (words.t("failure-back")) } }
            }
        });
        let mut answer = html::page(self.status, words, markup);
        if let Some(seconds) = self.retry_after_s {
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        answer
    }
}

/// For paths of the console that are no page.
pub async fn no_page(request: HttpRequest) -> Result<HttpResponse, Failure> {
    Err(Failure::new(
        html::words_of(&request),
        StatusCode::NOT_FOUND,
        "failure-no-page",
    ))
}
