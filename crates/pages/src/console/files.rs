//! Lists and documents of the API as files. A link of a browser sends no key and no `Accept`, so the console passes the
//! API's answer on, for the operator of the session.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::{Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};

use super::desk::{Early, until_signed_out};
use super::{Desk, Failure, links};

/// What can be had, by the parts of its path behind `/v1/`; `*` stands for an id. Only what changes nothing: some reads
/// of the API act.
const FILES: &[&[&str]] = &[
    &["payouts"],
    &["payouts", "*", "receipt"],
    &["entries"],
    &["audit"],
    &["reports", "daily"],
    &["reconciliation"],
    &["coupons", "*", "issues"],
    &["rooms", "*", "pre-queue"],
    &["jackpots", "*", "transfers"],
    &["jackpots", "*", "ledger"],
    &["jackpots", "*", "ledger", "export"],
    &["jackpots", "*", "ledger", "head"],
];

pub fn routes(config: &mut ServiceConfig) {
    config.route(
        "/console/files/{format:json|csv|ndjson}/{path:.*}",
        jackpot_kernel::http::get().to(get),
    );
}

async fn get(desk: Desk, path: Path<(String, String)>, request: HttpRequest) -> Result<HttpResponse, Failure> {
    let (format, path) = path.into_inner();
    let parts: Vec<_> = path.split('/').collect();
    let is_part = |(known, part): (&&str, &&str)| *known == "*" && !part.is_empty() || known == part;
    let is_file = |known: &&&[&str]| known.len() == parts.len() && known.iter().zip(&parts).all(is_part);
    if !FILES.iter().any(|known| is_file(&known)) {
        return Err(Failure::new(desk.words, StatusCode::NOT_FOUND, "failure-no-page"));
    }
    let parts: Vec<_> = parts.into_iter().map(links::part).collect();
    let path = match request.query_string() {
        "" => format!("/v1/{}", parts.join("/")),
        query => format!("/v1/{}?{query}", parts.join("/")),
    };
    let accept = match format.as_str() {
        "csv" => "text/csv",
        "ndjson" => "application/x-ndjson",
        _ => "application/json",
    };
    let answer = desk.file(&path, accept).await?;
    let mut told = HttpResponse::Ok();
    for name in [CONTENT_TYPE, CONTENT_DISPOSITION] {
        if let Some(value) = answer.headers().get(&name) {
            told.insert_header((name, value.clone()));
        }
    }
    let body = until_signed_out(&desk, answer.into_body(), Early::Breaks);
    Ok(told.insert_header((CACHE_CONTROL, "no-store")).body(body))
}
