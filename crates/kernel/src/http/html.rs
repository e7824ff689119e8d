//! Pages as answers: their language and their headers.

use std::convert::Infallible;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT_LANGUAGE, AcceptLanguage, CACHE_CONTROL, CONTENT_LANGUAGE, Header as _, VARY};
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use jackpot_ui::{Language, Words};
use maud::Markup;

/// The texts of the reader's language.
#[derive(Debug, Clone, Copy)]
pub struct Reader(pub Words);

impl FromRequest for Reader {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(words_of(request))))
    }
}

/// The texts of the reader's language.
pub fn words_of(request: &HttpRequest) -> Words {
    // Without the header every language is as good, and parsing an absent one is an error.
    let wanted = AcceptLanguage::parse(request)
        .map(|wanted| wanted.ranked())
        .unwrap_or_default();
    let tags: Vec<_> = wanted.iter().map(ToString::to_string).collect();
    Language::among(tags.iter().map(String::as_str)).words()
}

/// A page for one reader.
pub fn page(status: StatusCode, Words(language): Words, markup: Markup) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((CONTENT_LANGUAGE, language.code()))
        .insert_header((VARY, ACCEPT_LANGUAGE.as_str()))
        .body(markup.into_string())
}
