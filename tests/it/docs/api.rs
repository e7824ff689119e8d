//! The references of the API and of its problems are made from the document that the service serves, and the document
//! itself is kept, because the clients in `clients/` are generated from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jackpot::http::code::Code;

use super::{cell, head, hold};
use crate::support::prelude::*;

/// Starts the end of the description of an operation that needs a key.
const ROLE: &str = "Role of the key: ";

/// Methods in the order in which a path lists them.
const METHODS: [&str; 4] = ["get", "put", "post", "delete"];

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Who may call an operation.
fn role(operation: &Value) -> String {
    let Some(ways) = operation["security"].as_array() else {
        return "no key".to_owned();
    };
    let (_, role) = text(operation, "description").rsplit_once(ROLE).unwrap_or_default();
    let role = role.trim_end_matches('.');
    let open = ways
        .iter()
        .any(|way| way.as_object().is_some_and(serde_json::Map::is_empty));
    if open {
        format!("no key, or {role}")
    } else {
        role.to_owned()
    }
}

/// Every operation: path, method, and its object in the document.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let of_method = move |method| item.get(method).map(|operation| (path.as_str(), method, operation));
        METHODS.into_iter().filter_map(of_method)
    })
}

/// A table for each tag, in the order of paths.
fn page(document: &Value) -> String {
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for (path, method, operation) in operations(document) {
        let table = tables.entry(operation["tags"][0].as_str().expect("a tag")).or_default();
        let (method, role, summary) = (method.to_uppercase(), role(operation), cell(text(operation, "summary")));
        writeln!(table, "| `{method} {path}` | {role} | {summary} |").expect("a text takes all");
    }
    let mut page = head("API", "the document at /openapi.json");
    page += "The service describes each request, answer and error at `/docs/`, and as OpenAPI 3.1 at `/openapi.json`.\n\
             A key of the role `operate` may call every route. A [bound key](../how-to/keys-and-roles.md) may call the routes of its subjects.\n\
             What each error code means: [problems](problems.md).\n";
    for (tag, rows) in tables {
        let header = "| route | role of the key | what it does |\n| --- | --- | --- |";
        write!(page, "\n## {tag}\n\n{header}\n{rows}").expect("a text takes all");
    }
    page
}

/// The codes that operations answer with.
fn answered(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, _, operation) in operations(document) {
        for answer in operation["responses"].as_object().expect("answers").values() {
            let code = &answer["content"]["application/problem+json"]["schema"]["properties"]["code"];
            let codes = code["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
            found.extend(codes.map(str::to_owned));
        }
    }
    found
}

fn problems() -> String {
    let mut page = head("Problems", "crates/kernel/src/http and the document at /openapi.json");
    page += "An error answer is `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail`, `code` and `errors`.\n\
             `errors` names each wrong field. Programs decide by `code`; `/problems/{code}` has the text of this table.\n\n\
             | code | status | title | meaning |\n| --- | --- | --- | --- |\n";
    let mut codes = Code::ALL.to_vec();
    codes.sort_unstable_by_key(|code| code.as_str());
    for code in codes {
        let (name, status) = (code.as_str(), code.status().as_u16());
        let (title, about) = (cell(code.title()), cell(code.about()));
        writeln!(page, "| `{name}` | {status} | {title} | {about} |").expect("a text takes all");
    }
    page
}

#[tokio::test]
async fn the_pages_of_routes_and_problems_are_those_of_the_service() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    hold("api.md", &page(&document));
    hold("problems.md", &problems());
    let answered = answered(&document);
    let nowhere = Code::ALL.iter().filter(|code| !answered.contains(code.as_str()));
    // The document names only existing methods.
    assert_eq!(nowhere.collect::<Vec<_>>(), [&Code::MethodNotAllowed]);
}

#[tokio::test]
async fn the_kept_description_is_that_of_the_service() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let text = serde_json::to_string_pretty(&document).expect("a value is JSON");
    hold("openapi.json", &(text + "\n"));
}
