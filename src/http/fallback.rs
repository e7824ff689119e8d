//! What is answered where no route is: 404, or 405 with the methods that the path takes.

use actix_web::dev::ResourceDef;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use super::problem::Problem;

/// Paths and their methods, as the `OpenAPI` document has them; the document is thereby held to be complete.
pub(super) struct RouteTable(Vec<(ResourceDef, String)>);

impl RouteTable {
    pub(super) fn of(document: &OpenApi) -> RouteTable {
        let paths = document.paths.paths.iter();
        RouteTable(
            paths
                .map(|(path, item)| (ResourceDef::new(path.as_str()), methods(item)))
                .collect(),
        )
    }

    /// The part of it that a listener serving `path` alone has.
    pub(super) fn only(&self, path: &str) -> RouteTable {
        RouteTable(
            self.0
                .iter()
                .filter(|(pattern, _)| pattern.is_match(path))
                .cloned()
                .collect(),
        )
    }

    /// The answer for a path and a method that have no route together.
    pub(super) fn refusal(&self, path: &str) -> HttpResponse {
        match self.0.iter().find(|(pattern, _)| pattern.is_match(path)) {
            Some((_, allow)) => Problem::method_not_allowed(allow),
            None => Problem::not_found().into_response(),
        }
    }
}

/// A stream has no end, so its head is not to be had without it.
fn streams(operation: &Operation) -> bool {
    operation.responses.responses.values().any(|response| match response {
        RefOr::T(response) => response.content.contains_key("text/event-stream"),
        RefOr::Ref(_) => false,
    })
}

fn methods(item: &PathItem) -> String {
    let all = [
        ("GET", item.get.is_some()),
        ("HEAD", item.get.as_ref().is_some_and(|operation| !streams(operation))),
        ("PUT", item.put.is_some()),
        ("POST", item.post.is_some()),
        ("DELETE", item.delete.is_some()),
        ("PATCH", item.patch.is_some()),
    ];
    let there: Vec<_> = all
        .into_iter()
        .filter(|(_, there)| *there)
        .map(|(name, _)| name)
        .collect();
    there.join(", ")
}

/// The service behind all routes.
pub(super) async fn refuse(request: HttpRequest, table: Data<RouteTable>) -> HttpResponse {
    table.refusal(request.path())
}
