//! The description of the API, `/openapi.json`, and the page that shows it, `/docs/`.

use std::sync::{Arc, OnceLock};

use actix_web::http::header::LOCATION;
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use utoipa::openapi::OpenApi as OpenApiDocument;
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
    fn modify(&self, document: &mut OpenApiDocument) {
        let about = "A key made by `jackpot key new`. Each operation says which role it needs; `operate` may call all.";
        let scheme = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some(about));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(BEARER, SecurityScheme::Http(scheme.build()));
    }
}

/// The description, for refusals that teach; set by the first service of this process.
static DESCRIPTION: OnceLock<Arc<Description>> = OnceLock::new();

/// The document, if this process has a service.
pub(super) fn document() -> Option<&'static Value> {
    DESCRIPTION.get().map(|description| description.document())
}

/// The description as the routes give it, and completed for its first reader: it takes a third of a start, and many
/// processes have no reader.
struct Description {
    of_routes: OpenApiDocument,
    document: OnceLock<Value>,
}

impl Description {
    fn document(&self) -> &Value {
        self.document.get_or_init(|| {
            let mut document = serde_json::to_value(&self.of_routes).expect("a description is plain data");
            complete::complete(&mut document);
            document
        })
    }
}

/// The document as text, and the page that shows it. Each is made once, for its first reader.
pub(super) struct DocumentText {
    description: Arc<Description>,
    json: OnceLock<Page>,
    page: OnceLock<Page>,
}

impl DocumentText {
    pub(super) fn of(of_routes: OpenApiDocument) -> DocumentText {
        let description = Arc::new(Description {
            of_routes,
            document: OnceLock::new(),
        });
        // All services of a process have the same document.
        DESCRIPTION.get_or_init(|| Arc::clone(&description));
        DocumentText {
            description,
            json: OnceLock::new(),
            page: OnceLock::new(),
        }
    }

    fn json(&self) -> &Page {
        self.json
            .get_or_init(|| Page::new(self.description.document().to_string()))
    }

    fn page(&self) -> &Page {
        self.page
            .get_or_init(|| Page::new(page::page(self.description.document())))
    }
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "service",
    responses((status = 200, description = "OpenAPI 3.1", body = Object, content_type = "application/json",
            headers(("Cache-Control" = String, description = "`public, max-age=60`"), ("ETag" = String, description = "Weak"))),
        (status = 304, description = "`If-None-Match` has the tag of the document")))]
pub(super) async fn document_json(request: HttpRequest, text: Data<DocumentText>) -> HttpResponse {
    text.json().answer(&request, "application/json", MAX_AGE_S)
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
