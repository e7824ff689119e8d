//! Lists of the API as files: its own stream, passed on.

use actix_web::HttpResponse;
use actix_web::dev::Payload;
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use actix_web::http::{Method, StatusCode};

use super::desk::{Desk, Early, until_signed_out};
use super::failure::Failure;

/// The media type of a file by the end of its name.
fn media_type(format: &str) -> HeaderValue {
    HeaderValue::from_static(match format {
        "csv" => "text/csv",
        _ => "application/x-ndjson",
    })
}

/// Passes a list on as a file of this name, in which no character needs quotes. It ends with the session.
///
/// # Errors
/// The API's refusal, as a page.
pub async fn file(desk: &Desk, path: &str, format: &str, name: &str) -> Result<HttpResponse, Failure> {
    let wish = vec![(ACCEPT, media_type(format))];
    let answer = desk.pass(Method::GET, path, Payload::None, wish).await;
    let answer = answer.map_err(|problem| Failure::of_api(desk.words, problem))?;
    if answer.status() != StatusCode::OK {
        return Err(desk.refusal(answer).await);
    }
    let kind = answer.headers().get(CONTENT_TYPE).cloned();
    let (_, body) = answer.into_parts();
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, kind.unwrap_or_else(|| media_type(format))))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(until_signed_out(desk, body, Early::Breaks)))
}
