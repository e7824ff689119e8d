//! The description of the API states the content of each body.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::prelude::*;

fn keys(object: &Value) -> Vec<&str> {
    let mut names = object
        .as_object()
        .map_or(Vec::new(), |all| all.keys().map(String::as_str).collect());
    names.sort_unstable();
    names
}

#[tokio::test]
async fn each_definition_is_described_as_what_it_is_and_each_answer_is_named() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let of = |path: &str, method: &str| &document["paths"][path][method];
    for (path, name, fields) in [
        (
            "/v1/rooms/{id}",
            "RoomDefinition",
            "admissions_per_minute back capacity name opens_at return_origins session_s waiting_timeout_s",
        ),
        (
            "/v1/coupons/{id}",
            "CouponDefinition",
            "ends_at name per_user per_user_window_s starts_at stock",
        ),
        (
            "/v1/jackpots/{id}",
            "JackpotDefinition",
            "approval_above contribution currency id max_redraws max_stake min_stake name odds origins public_meter \
             reverse_by reverse_within_s room settlement sources status tiers winners",
        ),
    ] {
        let body = &of(path, "put")["requestBody"]["content"]["application/json"];
        let reference = body["schema"]["$ref"].as_str().expect("a name");
        assert_eq!(reference, format!("#/components/schemas/{name}"));
        let schema = &document["components"]["schemas"][name];
        assert_eq!(keys(&schema["properties"]).join(" "), fields, "{name}");
        let described = keys(&schema["properties"]);
        for example in body["examples"].as_object().expect("examples").values() {
            assert_eq!(
                keys(&example["value"]),
                described,
                "the example of {name} shows each field"
            );
        }
    }
    for (path, item) in document["paths"].as_object().expect("paths") {
        if !path.starts_with("/v1/rooms/{id}") {
            continue;
        }
        for (method, operation) in item.as_object().expect("operations") {
            assert!(
                keys(&operation["responses"]).contains(&"409"),
                "{method} {path}: a room may be suspended"
            );
        }
    }
    for (path, method) in [("/rooms/{id}/wait/leave", "post"), ("/rooms/{id}/wait/events", "get")] {
        let answers = keys(&of(path, method)["responses"]);
        for status in ["400", "404", "503"] {
            assert!(answers.contains(&status), "{path}: {answers:?}");
        }
    }
}

#[tokio::test]
async fn every_answer_has_examples_its_headers_and_if_it_is_a_problem_its_codes() {
    let service = Service::start().await;
    let document = service.get("/openapi.json").await.body;
    let codes = document["components"]["schemas"]["ProblemCode"]["enum"]
        .as_array()
        .expect("codes");
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let at = format!("{method} {path}");
            let bodies = operation["requestBody"]["content"].as_object().into_iter().flatten();
            for (media, body) in bodies {
                assert!(shown(body), "{at}: no example of the {media} that it takes");
            }
            for (status, response) in operation["responses"].as_object().expect("responses") {
                assert!(response["headers"]["X-Request-Id"].is_object(), "{at} {status}");
                for (media, body) in response["content"].as_object().into_iter().flatten() {
                    assert!(
                        shown(body) || media == "text/html" || path == "/openapi.json",
                        "{at} {status}: no example of {media}"
                    );
                    if media != "application/problem+json" {
                        continue;
                    }
                    let named = body["schema"]["properties"]["code"]["enum"].as_array();
                    let named = named.unwrap_or_else(|| panic!("{at} {status} has no codes"));
                    assert!(
                        named.iter().all(|code| codes.contains(code)),
                        "{at} {status}: {named:?}"
                    );
                    if ["429", "503"].contains(&status.as_str()) {
                        assert!(response["headers"]["Retry-After"].is_object(), "{at} {status}");
                    }
                }
            }
        }
    }
}

/// Whether there is an example.
fn shown(media: &Value) -> bool {
    !media["example"].is_null() || media["examples"].as_object().is_some_and(|all| !all.is_empty())
}

/// Names of the types that a source text describes, as the description has them.
fn described(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        if !(line.trim_start().starts_with("#[derive(") && line.contains("ToSchema")) {
            continue;
        }
        let mut renamed = None;
        for line in lines.by_ref() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix("#[schema(as = ") {
                renamed = name.strip_suffix(")]").map(str::to_owned);
            }
            let mut words = line
                .split(|c: char| !c.is_alphanumeric())
                .skip_while(|word| *word != "struct" && *word != "enum");
            if words.next().is_some() {
                names.push(renamed.unwrap_or_else(|| words.next().expect("a name").to_owned()));
                break;
            }
        }
    }
    names
}

fn collect(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            for name in described(&fs::read_to_string(&path).expect("text")) {
                found.entry(name).or_default().push(path.display().to_string());
            }
        }
    }
}

/// If two types shared a name, the description would have one of them and use it for both.
#[test]
fn no_two_described_types_share_a_name() {
    let mut found = BTreeMap::new();
    for folder in ["src", "crates"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    assert!(
        ["RoomDefinition", "TicketBody", "JackpotDefinition"]
            .iter()
            .all(|name| found.contains_key(*name)),
        "{found:?}"
    );
    found.retain(|_, files| files.len() > 1);
    assert!(found.is_empty(), "{found:#?}");
}
