//! Completes the description by rule: what holds for many routes is in one place, here.
//!
//! Routes describe what is their own. This adds the common problem answers, the codes of each, the headers, the
//! examples, and what utoipa cannot say of a type. It works on the JSON of the document, once, for its
//! first reader.

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::clock::{parse_rfc3339, rfc3339};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schemas::{self, Schemas};
use super::words::{self, When};
use crate::http::{Code, problem};

const JSON: &str = "application/json";
/// A body of lines is a text to generators. The type of a line is beside it.
const LINES: &str = "application/x-ndjson";
const EXAMPLES: &str = "#/components/examples/";
/// The problems of a route, each alone or with when: `json!([Code::PayoutHeld, (Code::SameOwner, "…")])`.
const PROBLEMS: &str = "x-problems";
pub(super) const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Completes the whole document.
pub(super) fn complete(document: &mut Value) {
    heading(document);
    let mut schemas = taken(document, "/components/schemas");
    schemas::complete(&mut schemas);
    add_codes(&mut schemas);
    let mut paths = taken(document, "/paths");
    for (path, item) in &mut paths {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method).and_then(Value::as_object_mut) {
                complete_operation(path, method, operation, &schemas);
            }
        }
    }
    document["paths"] = paths.into();
    document["components"]["schemas"] = schemas.into();
    document["components"]["headers"] = words::headers();
    document["components"]["examples"] = problem_examples(document);
    drop_unused(document);
    write_times_alike(document);
}

/// Writes the times of all examples as the service does, with three decimals.
fn write_times_alike(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(write_times_alike),
        Value::Array(items) => items.iter_mut().for_each(write_times_alike),
        Value::String(text) if text.ends_with('Z') => {
            if let Some(ms) = parse_rfc3339(text) {
                *text = rfc3339(ms);
            }
        }
        _ => {}
    }
}

fn taken(document: &mut Value, at: &str) -> Map<String, Value> {
    match document.pointer_mut(at).map(Value::take) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Merges equal tags of capabilities; adds contact and server.
fn heading(document: &mut Value) {
    let mut seen = BTreeSet::new();
    if let Some(tags) = document.get_mut("tags").and_then(Value::as_array_mut) {
        tags.retain(|tag| seen.insert(tag["name"].to_string()));
    }
    document["info"]["contact"] = json!({"name": "The operators of this service"});
    document["servers"] = json!([{"url": "/", "description": "The service that serves this document"}]);
}

/// Makes one list of codes, so that a generator makes one type of it.
fn add_codes(schemas: &mut Schemas) {
    let about = "What went wrong, for programs; `/problems/{code}` says what to do.";
    schemas.insert(
        "ProblemCode".to_owned(),
        json!({"type": "string", "description": about, "enum": Code::ALL}),
    );
}

/// An example of each problem, in the answers of each status that refer to it.
fn problem_examples(document: &Value) -> Value {
    let mut used = BTreeSet::new();
    references(document, &mut used);
    let examples = used.iter().filter_map(|reference| {
        let name = reference.strip_prefix(EXAMPLES)?;
        let value = words::example_problem(Code::parse(name)?);
        Some((name.to_owned(), json!({"value": value})))
    });
    examples.collect::<Map<_, _>>().into()
}

fn complete_operation(path: &str, method: &str, operation: &mut Map<String, Value>, schemas: &Schemas) {
    if !operation.contains_key("description") {
        let summary = operation.get("summary").cloned().unwrap_or_default();
        operation.insert("description".to_owned(), summary);
    }
    let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
    name_roles(method, &id, operation);
    for parameter in operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        complete_parameter(&id, parameter);
    }
    if let Some(content) = operation
        .get_mut("requestBody")
        .and_then(|body| body.get_mut("content"))
    {
        add_examples(&id, content, "request");
    }
    let problems = problems(path, operation);
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    let codes = add_problems(problems, responses);
    for (status, response) in responses {
        if let Some(content) = response.get_mut("content") {
            schemas::refer(content, schemas);
            add_examples(&id, content, "answer");
        }
        if let Some(codes) = codes.get(status) {
            complete_problem(codes, response);
        }
        add_headers(status, response);
        for (name, link) in words::links(&id, status) {
            response["links"][name] = link;
        }
    }
}

/// Adds the roles that a key needs, as text and as an extension. Not all validators accept role names in a security
/// scheme without scopes.
fn name_roles(method: &str, id: &str, operation: &mut Map<String, Value>) {
    if !operation.contains_key("security") {
        return;
    }
    let roles = words::roles(method, id);
    let about = operation["description"].as_str().unwrap_or_default();
    let about = format!("{about}\n\nRole of the key: `{}`.", roles.join("` or `"));
    operation.insert("description".to_owned(), about.into());
    operation.insert("x-roles".to_owned(), json!(roles));
}

fn complete_parameter(operation: &str, parameter: &mut Value) {
    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
    let within = words::Within::Parameter(operation);
    if let Some(schema) = parameter.get_mut("schema") {
        // An optional header can't be null: it is a text.
        if let Some([kind, Value::String(null)]) = schema["type"].as_array().map(Vec::as_slice)
            && null == "null"
        {
            schema["type"] = kind.clone();
        }
        schemas::constrain(within, &name, schema);
    }
    if parameter.get("description").is_none()
        && let Some(about) = words::about_parameter(&name)
    {
        parameter["description"] = about.into();
    }
    if let Some(example) = words::example_parameter(operation, &name) {
        parameter["example"] = example;
    }
}

/// A problem of a route, as its attribute names it.
#[derive(Deserialize)]
#[serde(untagged)]
enum OfRoute {
    Always(Code),
    When(Code, String),
}

/// The problems of an operation, each with when: its own, then those of every operation of its kind.
fn problems(path: &str, operation: &mut Map<String, Value>) -> Vec<(Code, String)> {
    let own = operation.remove(PROBLEMS).unwrap_or_else(|| json!([]));
    let own: Vec<OfRoute> = serde_json::from_value(own).expect("codes of problems");
    let own = own.into_iter().map(|problem| match problem {
        OfRoute::Always(code) => (code, String::new()),
        OfRoute::When(code, when) => (code, when),
    });
    let mut all: Vec<_> = own.collect();
    if !path.starts_with("/v1/") {
        return all;
    }
    let facts = [
        (When::Always, true),
        (When::Body, operation.contains_key("requestBody")),
        (When::Key, operation.contains_key("security")),
        (When::Jackpot, path.starts_with("/v1/jackpots/{id}")),
        (When::Coupon, path.starts_with("/v1/coupons/{id}")),
        (When::Room, path.starts_with("/v1/rooms/{id}")),
    ];
    for (code, when) in words::COMMON {
        if facts.contains(&(when, true)) && all.iter().all(|(own, _)| *own != code) {
            all.push((code, String::new()));
        }
    }
    all
}

/// Adds an answer for each status that problems have, or its codes to the one that the route describes. Returns the codes.
fn add_problems(problems: Vec<(Code, String)>, responses: &mut Map<String, Value>) -> BTreeMap<String, Vec<Code>> {
    let mut by_status = BTreeMap::<String, Vec<(Code, String)>>::new();
    for (code, when) in problems {
        let status = code.status().as_str().to_owned();
        by_status.entry(status).or_default().push((code, when));
    }
    for (status, problems) in &by_status {
        let response = responses.entry(status.clone()).or_insert_with(|| {
            let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
            json!({"description": "", "content": {problem::CONTENT_TYPE: problem}})
        });
        let described = response["description"].as_str().unwrap_or_default();
        response["description"] = text_of(problems, described).into();
    }
    let codes = |problems: Vec<(Code, String)>| problems.into_iter().map(|(code, _)| code).collect();
    by_status
        .into_iter()
        .map(|(status, problems)| (status, codes(problems)))
        .collect()
}

/// The codes, each with when, and what the route says of all.
fn text_of(problems: &[(Code, String)], described: &str) -> String {
    let mut text = String::new();
    let mut end = "";
    for (code, when) in problems {
        text.extend([end, "`", code.as_str(), "`"]);
        end = ", ";
        if !when.is_empty() {
            text.extend([": ", when]);
            end = "; ";
        }
    }
    if !described.is_empty() {
        text.extend(["; ", described]);
    }
    text
}

/// Adds to a problem answer which codes it can have, and an example of each.
fn complete_problem(codes: &[Code], response: &mut Value) {
    let Some(media) = response
        .get_mut("content")
        .and_then(|content| content.get_mut(problem::CONTENT_TYPE))
    else {
        return;
    };
    // Beside the reference: a validator checks the answer against it, and a generator keeps one type for all problems.
    let status = codes.first().map(|code| code.status().as_u16());
    media["schema"]["properties"] = json!({"code": {"enum": codes}, "status": {"const": status}});
    if media.get("example").is_none() && media.get("examples").is_none() {
        let of = |code: &Code| json!({"$ref": format!("{EXAMPLES}{code}")});
        let examples = codes.iter().map(|code| (code.to_string(), of(code)));
        media["examples"] = examples.collect::<Map<_, _>>().into();
    }
}

fn add_headers(status: &str, response: &mut Value) {
    let description = response["description"].as_str().unwrap_or_default();
    let schema = response
        .get("content")
        .and_then(|content| content.get(JSON))
        .and_then(|media| media["schema"]["$ref"].as_str())
        .and_then(|reference| reference.rsplit('/').next());
    let mut names = vec!["X-Request-Id"];
    names.extend(words::headers_of(status, description, schema));
    for name in names {
        if response["headers"].get(name).is_none() {
            response["headers"][name] = json!({"$ref": format!("#/components/headers/{name}")});
        }
    }
}

/// Adds examples, by the name of the type; for a body without a type, by operation and media type.
fn add_examples(operation: &str, content: &mut Value, of: &str) {
    for (kind, media) in content.as_object_mut().into_iter().flatten() {
        if kind == LINES && media["schema"].get("$ref").is_some() {
            let line = media["schema"].take();
            media["schema"] = json!({"type": "string", "contentMediaType": LINES, "contentSchema": line});
        }
        if media.get("example").is_some() || media.get("examples").is_some() {
            continue;
        }
        let named = media["schema"]["$ref"]
            .as_str()
            .and_then(|reference| reference.rsplit('/').next())
            .and_then(words::examples);
        if let Some(named) = named {
            let named = named
                .iter()
                .map(|(name, value)| (name.clone(), json!({"value": value})));
            media["examples"] = named.collect::<Map<_, _>>().into();
        } else if let Some(text) = words::example_text(operation, of, kind) {
            media["example"] = text.into();
        }
    }
}

/// Drops components without a reference, until all are used.
fn drop_unused(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        references(document, &mut used);
        let mut dropped = false;
        for kind in ["schemas", "responses", "headers", "examples"] {
            let Some(all) = document["components"].get_mut(kind).and_then(Value::as_object_mut) else {
                continue;
            };
            let before = all.len();
            all.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
            dropped |= all.len() < before;
        }
        if !dropped {
            return;
        }
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                found.insert(reference.to_owned());
            }
            object.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}
