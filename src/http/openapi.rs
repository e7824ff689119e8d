//! The description of the API, `/openapi.json`, and the page that shows it, `/docs/`.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{self, Data, ServiceConfig};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::{health, problem};

/// Name of the security scheme; an operation with a key says `security(("bearer" = []))`.
pub const BEARER: &str = "bearer";

/// Problem answers that operations of capabilities can give: status, name, description, and when. A capability describes
/// only those of its own.
const COMMON: [(&str, &str, &str, When); 13] = [
    ("400", "InvalidJson", "`invalid-json`", When::Body),
    ("401", "Unauthorized", "`unauthorized`", When::Key),
    ("403", "Forbidden", "`forbidden`, `wrong-subject`", When::Key),
    ("404", "JackpotNotFound", "`jackpot-not-found`", When::Jackpot),
    ("404", "CouponNotFound", "`coupon-not-found`", When::Coupon),
    ("404", "RoomNotFound", "`room-not-found`", When::Room),
    ("409", "RoomSuspended", "`room-suspended`", When::Room),
    ("413", "TooLarge", "`too-large`", When::Body),
    ("415", "UnsupportedMediaType", "`unsupported-media-type`", When::Body),
    (
        "422",
        "InvalidRequest",
        "`invalid-request`: `errors` names each field",
        When::Always,
    ),
    ("429", "RateLimited", "`rate-limited`, with `Retry-After`", When::Key),
    ("500", "Internal", "`internal`", When::Always),
    (
        "503",
        "StoreUnavailable",
        "`store-unavailable`, with `Retry-After`: repeat the same ids",
        When::Always,
    ),
];

/// Which operations can give an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Those that take a body.
    Body,
    /// Those that need a key.
    Key,
    /// Those of one jackpot.
    Jackpot,
    /// Those of one coupon.
    Coupon,
    /// Those of one room.
    Room,
}

/// What the service itself serves; capabilities merge theirs into it in [`super::routes`].
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
        for (_, name, description, _) in COMMON {
            let content = ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("Problem")))
                .build();
            let response = ResponseBuilder::new()
                .description(description)
                .content(problem::CONTENT_TYPE, content);
            components.responses.insert(name.to_owned(), RefOr::T(response.build()));
        }
    }
}

/// Adds the common problem answers to the operations of capabilities, where they are not described.
pub(super) fn complete(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        if !path.starts_with("/v1/") {
            continue;
        }
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.delete,
            &mut item.patch,
        ];
        for operation in operations.into_iter().flatten() {
            let (body, key) = (operation.request_body.is_some(), operation.security.is_some());
            for (status, name, _, when) in COMMON {
                let applies = match when {
                    When::Always => true,
                    When::Body => body,
                    When::Key => key,
                    When::Jackpot => path.starts_with("/v1/jackpots/{id}"),
                    When::Coupon => path.starts_with("/v1/coupons/{id}"),
                    When::Room => path.starts_with("/v1/rooms/{id}"),
                };
                let responses = &mut operation.responses.responses;
                if applies && !responses.contains_key(status) {
                    responses.insert(status.to_owned(), RefOr::Ref(Ref::from_response_name(name)));
                }
            }
        }
    }
}

/// The document as text, made once.
#[derive(Clone)]
pub(super) struct DocumentText(web::Bytes);

impl DocumentText {
    pub(super) fn of(document: &utoipa::openapi::OpenApi) -> Result<DocumentText, serde_json::Error> {
        document.to_json().map(|text| DocumentText(text.into()))
    }
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "service",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json")))]
pub(super) async fn document_json(text: Data<DocumentText>) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(text.0.clone())
}

/// Mounts the document and its page.
pub(super) fn routes(config: &mut ServiceConfig) {
    // Without "none" the page would send the document's address to a validator on the internet.
    let page = Config::from("/openapi.json").validator_url("none");
    config
        .route("/openapi.json", super::get().to(document_json))
        .route("/docs", super::get().to(to_page))
        .service(SwaggerUi::new("/docs/{_:.*}").config(page));
}

async fn to_page() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((LOCATION, "/docs/"))
        .finish()
}
