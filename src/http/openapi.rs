//! The description of the API, `/openapi.json`, and the page that shows it, `/docs/`.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{self, Data, ServiceConfig};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::{health, problem};

/// Name of the security scheme; a room's operation with a key says `security(("bearer" = []))`.
pub const BEARER: &str = "bearer";

/// Problem answers that any operation can give; a room refers to them as `#/components/responses/<name>`.
const COMMON: [(&str, &str); 8] = [
    ("InvalidJson", "400 `invalid-json`"),
    ("Unauthorized", "401 `unauthorized`"),
    ("Forbidden", "403 `forbidden`"),
    ("TooLarge", "413 `too-large`"),
    (
        "InvalidRequest",
        "422 `invalid-request`: `errors` names each field",
    ),
    ("RateLimited", "429 `rate-limited`, with `Retry-After`"),
    ("Internal", "500 `internal`"),
    (
        "StoreUnavailable",
        "503 `store-unavailable`, with `Retry-After`: repeat the same ids",
    ),
];

/// What the service itself serves; rooms merge theirs into it in [`super::routes`].
#[derive(OpenApi)]
#[openapi(
    info(title = "Jackpot", license(name = "MIT OR Apache-2.0"),
        description = "Shared prize pools with one atomic claim per winner. Amounts are integers in minor units, \
                       times are RFC 3339 in UTC, errors are RFC 9457 problems."),
    paths(health::healthz, health::readyz, health::metrics, problem::explain, document_json),
    components(schemas(problem::ProblemBody, problem::FieldError)),
    tags((name = "service", description = "Health and description of the service")),
    modifiers(&Common)
)]
pub struct ServiceDoc;

struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).build());
        components.add_security_scheme(BEARER, scheme);
        for (name, description) in COMMON {
            let content = ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("Problem")))
                .build();
            let response = ResponseBuilder::new()
                .description(description)
                .content(problem::CONTENT_TYPE, content);
            components
                .responses
                .insert(name.to_owned(), RefOr::T(response.build()));
        }
    }
}

/// The document as text, made once.
#[derive(Clone)]
pub(super) struct DocumentText(web::Bytes);

impl DocumentText {
    pub(super) fn of(
        document: &utoipa::openapi::OpenApi,
    ) -> Result<DocumentText, serde_json::Error> {
        document.to_json().map(|text| DocumentText(text.into()))
    }
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "service",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json")))]
pub(super) async fn document_json(text: Data<DocumentText>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(text.0.clone())
}

/// Mounts the document and its page.
pub(super) fn routes(config: &mut ServiceConfig) {
    // Without "none" the page would send the document's address to a validator on the internet.
    let page = Config::from("/openapi.json").validator_url("none");
    config
        .route("/openapi.json", web::get().to(document_json))
        .route("/docs", web::get().to(to_page))
        .service(SwaggerUi::new("/docs/{_:.*}").config(page));
}

async fn to_page() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/docs/"))
        .finish()
}
