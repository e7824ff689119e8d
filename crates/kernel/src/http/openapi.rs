//! The description of the API, `/openapi.json`, and the page that shows it, `/docs/`.

use std::sync::OnceLock;

use actix_web::http::header::LOCATION;
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::cached::Page;
use super::{health, problem};

mod complete;
mod page;
mod schemas;
mod words;

pub use words::AUDITED;

/// Name of the security scheme. An operation with a key has `security(("bearer" = []))`.
pub const BEARER: &str = "bearer";

/// How long clients may cache the document, in seconds; an update reaches them after at most this.
const MAX_AGE_S: u32 = 60;

/// The service's own part. Capabilities merge theirs into it in [`super::routes`].
#[derive(OpenApi)]
#[openapi(
    info(title = "Jackpot", license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
        description = "Shared prize pools with one atomic claim per winner. Amounts are integers in minor units, \
                       times are RFC 3339 in UTC, errors are RFC 9457 problems."),
    paths(health::healthz, health::readyz, health::metrics, problem::explain, document_json),
    components(schemas(problem::ProblemBody, problem::FieldError)),
    tags((name = "service", description = "Health and description of the service")),
    modifiers(&Bearer)
)]
pub struct ServiceDoc;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let about = "A key made by `jackpot key new`. Each operation says which role it needs; `operate` may call all.";
        let scheme = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some(about));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(BEARER, SecurityScheme::Http(scheme.build()));
    }
}

/// The schemas, for refusals that teach; set by the first service of this process.
static DOCUMENT: OnceLock<Value> = OnceLock::new();

/// The document, if it was made.
pub(super) fn document() -> Option<&'static Value> {
    DOCUMENT.get()
}

/// The document as text, and the page that shows it. Each is made once; the page for its first reader, because few
/// processes have one.
pub(super) struct DocumentText {
    json: Page,
    page: OnceLock<Page>,
}

impl DocumentText {
    pub(super) fn of(document: &utoipa::openapi::OpenApi) -> Result<DocumentText, serde_json::Error> {
        let mut document = serde_json::to_value(document)?;
        complete::complete(&mut document);
        let text = serde_json::to_string(&document)?;
        // All services of a process have the same document.
        DOCUMENT.get_or_init(|| document);
        Ok(DocumentText {
            json: Page::new(text),
            page: OnceLock::new(),
        })
    }

    fn page(&self) -> &Page {
        self.page.get_or_init(|| {
            let document = serde_json::from_slice(self.json.body()).expect("it was written from a document");
            Page::new(page::page(&document))
        })
    }
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "service",
    responses((status = 200, description = "OpenAPI 3.1", body = Object, content_type = "application/json",
            headers(("Cache-Control" = String, description = "`public, max-age=60`"), ("ETag" = String, description = "Weak"))),
        (status = 304, description = "`If-None-Match` has the tag of the document")))]
pub(super) async fn document_json(request: HttpRequest, text: Data<DocumentText>) -> HttpResponse {
    text.json.answer(&request, "application/json", MAX_AGE_S)
}

async fn document_page(request: HttpRequest, text: Data<DocumentText>) -> HttpResponse {
    text.page().answer(&request, "text/html; charset=utf-8", MAX_AGE_S)
}

/// An example of a type.
pub(super) fn example(schema: &str) -> Option<&'static Value> {
    words::examples(schema)?.values().next()
}

/// Mounts the document and its page.
pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .route("/openapi.json", super::get().to(document_json))
        .route("/docs", super::get().to(to_page))
        .route("/docs/", super::get().to(document_page));
}

async fn to_page() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/docs/"))
        .finish()
}
