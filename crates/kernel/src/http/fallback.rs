//! The answer where no route matches: 404, or 405 with the methods of the path.

use std::sync::Arc;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use super::ACTS;
use super::problem::Problem;

/// Most segments of a route's path.
const MAX_SEGMENTS: usize = 12;

/// Paths and their methods, by the number of their segments. They are from the `OpenAPI` document, so it must be
/// complete.
pub(super) struct RouteTable([Vec<KnownPath>; MAX_SEGMENTS + 1]);

/// A path of the service.
#[derive(Clone)]
struct KnownPath {
    /// The path in the document, `{id}` for a parameter.
    path: Arc<str>,
    segments: Vec<Segment>,
    /// Its methods, for `Allow`.
    methods: String,
}

#[derive(Clone, PartialEq, Eq)]
enum Segment {
    Named(String),
    Parameter,
}

impl KnownPath {
    fn new(path: &str, methods: String) -> Self {
        let segment = |text: &str| {
            if text.starts_with('{') {
                Segment::Parameter
            } else {
                Segment::Named(text.to_owned())
            }
        };
        let segments: Vec<_> = path.split('/').map(segment).collect();
        assert!(
            segments.len() <= MAX_SEGMENTS,
            "{path} has too many segments to be found"
        );
        Self {
            path: path.into(),
            segments,
            methods,
        }
    }

    /// Whether these segments, of the same number, match this path. Compares from the end, where most paths differ.
    fn fits(&self, segments: &[&[u8]]) -> bool {
        let fits = |(segment, text): (&Segment, &&[u8])| match segment {
            Segment::Named(name) => name.as_bytes() == *text,
            Segment::Parameter => !text.is_empty(),
        };
        self.segments.iter().zip(segments).rev().all(fits)
    }
}

impl RouteTable {
    pub(super) fn of(document: &OpenApi) -> RouteTable {
        let paths = document.paths.paths.iter();
        RouteTable::new(paths.map(|(path, item)| KnownPath::new(path, methods(item))))
    }

    /// The part of the table for a listener that serves only `path`.
    pub(super) fn only(&self, path: &str) -> RouteTable {
        RouteTable::new(self.find(path).cloned())
    }

    fn new(paths: impl IntoIterator<Item = KnownPath>) -> RouteTable {
        let mut table = RouteTable(Default::default());
        for known in paths {
            table.0[known.segments.len()].push(known);
        }
        table
    }

    /// The path in the document, as a label with few values. Not from the router, which would run a regular expression
    /// for each of its routes again.
    pub(super) fn label(&self, path: &str) -> Option<Arc<str>> {
        self.find(path).map(|known| Arc::clone(&known.path))
    }

    fn find(&self, path: &str) -> Option<&KnownPath> {
        let mut parts: [&[u8]; MAX_SEGMENTS] = [b""; MAX_SEGMENTS];
        let mut count = 0;
        for part in path.as_bytes().split(|byte| *byte == b'/') {
            *parts.get_mut(count)? = part;
            count += 1;
        }
        let segments = parts.get(..count)?;
        self.0[count].iter().find(|known| known.fits(segments))
    }

    /// The answer for a path and a method without a route.
    pub(super) fn refusal(&self, path: &str) -> HttpResponse {
        match self.find(path) {
            Some(known) => Problem::method_not_allowed(&known.methods),
            None => Problem::not_found().into_response(),
        }
    }
}

/// A GET that acts, or that has no end, has no HEAD: its headers need the GET.
fn takes_head(operation: &Operation) -> bool {
    let acts = operation
        .extensions
        .as_ref()
        .is_some_and(|named| named.contains_key(ACTS));
    !acts && !streams(operation)
}

fn streams(operation: &Operation) -> bool {
    operation.responses.responses.values().any(|response| match response {
        RefOr::T(response) => response.content.contains_key("text/event-stream"),
        RefOr::Ref(_) => false,
    })
}

fn methods(item: &PathItem) -> String {
    let all = [
        ("GET", item.get.is_some()),
        ("HEAD", item.get.as_ref().is_some_and(takes_head)),
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

/// The service after all routes.
pub(super) async fn refuse(request: HttpRequest, table: Data<RouteTable>) -> HttpResponse {
    table.refusal(request.path())
}
