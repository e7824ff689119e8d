//! The page `/docs/`: the description, to read. It is made of the document alone, so that it says what a generator reads. It
//! needs no script: what is folded are `<details>`, which browsers open for a link into them and for a search.
//!
//! - `operation`: one call, with all that a developer needs to make it. `curl`: the command that makes it.
//! - `types`: the fields of bodies, and the named types. `prose`: texts of the description.

mod curl;
mod operation;
mod prose;
mod types;

use jackpot_ui::Language;
use jackpot_ui::frame::{Frame, ICON_FILE};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::complete::METHODS;
use crate::http::Code;
use operation::Operation;
use prose::{prose, short};

/// The whole page.
pub(super) fn page(document: &Value) -> String {
    let title = format!("{} API", text(&document["info"], "title"));
    let operations = operations(document);
    let groups = groups(document, &operations);
    let frame = Frame {
        language: Language::En,
        title: &title,
        class: "console",
        scripts: &[],
        head: None,
        listed: true,
    };
    let content = html! {
        a.skip href="#content" { "Skip to the content" }
        header.side { div {
            a.brand href="/docs/" { img src=(ICON_FILE.path()) alt=""; (title) }
            nav aria-label="Contents" { (contents(&groups)) }
        } }
        main.docs id="content" tabindex="-1" {
            h1 { (title) " " span.muted { (text(&document["info"], "version")) } }
            (introduction(document))
            @for group in &groups { (group.section(document)) }
            (types_section(document))
            (headers(document))
            (problems())
        }
    };
    frame.around(&content).into_string()
}

/// The operations of one tag.
struct Group<'a> {
    name: &'a str,
    about: &'a str,
    operations: Vec<&'a Operation<'a>>,
}

/// The groups of the document, in its order. A tag that the document does not describe is a further group.
fn groups<'a>(document: &'a Value, operations: &'a [Operation<'a>]) -> Vec<Group<'a>> {
    let described = items(&document["tags"]).map(|tag| (text(tag, "name"), text(tag, "description")));
    let mut groups: Vec<_> = described
        .map(|(name, about)| Group {
            name,
            about,
            operations: Vec::new(),
        })
        .collect();
    for operation in operations {
        let name = operation.tag();
        if let Some(group) = groups.iter_mut().find(|group| group.name == name) {
            group.operations.push(operation);
        } else {
            groups.push(Group {
                name,
                about: "",
                operations: vec![operation],
            });
        }
    }
    groups
}

impl Group<'_> {
    fn section(&self, document: &Value) -> Markup {
        html! {
            section.stack-small aria-labelledby={ "tag-" (self.name) } {
                h2 id={ "tag-" (self.name) } { (self.name) }
                p.muted { (short(self.about)) }
                @for one in &self.operations { (one.show(document)) }
            }
        }
    }
}

fn contents(groups: &[Group<'_>]) -> Markup {
    html! {
        h2 { "Operations" }
        ul { @for group in groups {
            li { a href={ "#tag-" (group.name) } { (group.name) " " span.small { (group.operations.len()) } } }
        } }
        h2 { "Reference" }
        ul {
            li { a href="#types" { "types" } }
            li { a href="#headers" { "headers" } }
            li { a href="#problems" { "problems" } }
        }
    }
}

fn introduction(document: &Value) -> Markup {
    let key = &document["components"]["securitySchemes"][super::BEARER];
    html! {
        (prose(text(&document["info"], "description")))
        p { "For generators: " a href="/openapi.json" { "openapi.json" } ", OpenAPI " (text(document, "openapi")) "." }
        (prose(text(key, "description")))
        p { "The curl lines use two variables. Set them first:" }
        pre.copied { (curl::VARIABLES) }
    }
}

fn types_section(document: &Value) -> Markup {
    let examples = types::examples(document);
    html! {
        section.stack-small aria-labelledby="types" {
            h2 id="types" { "Types" }
            @for (name, schema) in members(&document["components"]["schemas"]) {
                (types::named(name, schema, examples.get(name.as_str()).copied()))
            }
        }
    }
}

fn headers(document: &Value) -> Markup {
    html! {
        section.stack-small aria-labelledby="headers" {
            h2 id="headers" { "Headers" }
            p { "Every answer has " code { "X-Request-Id" } ". The others are named with the answers that have them." }
            dl.schema { @for (name, header) in members(&document["components"]["headers"]) {
                div {
                    dt { code { (name) } }
                    dd { (types::kind(&header["schema"])) (types::limits(&header["schema"])) (prose(text(header, "description"))) }
                }
            } }
        }
    }
}

/// All of them, as `/problems/{code}` explains them.
fn problems() -> Markup {
    html! {
        section.stack-small aria-labelledby="problems" {
            h2 id="problems" { "Problems" }
            p { "A refusal has a " (types::link("Problem")) " as its body (RFC 9457). Its " code { "code" } " is one of these:" }
            dl.schema { @for code in Code::ALL {
                div {
                    dt id={ "problem-" (code.as_str()) } { code { (code.as_str()) } }
                    dd { strong { (code.title()) } (prose(code.about())) }
                }
            } }
        }
    }
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut found = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for method in METHODS {
            if let Some(about) = item.get(method) {
                found.push(Operation { path, method, about });
            }
        }
    }
    found
}

/// A text of an object; empty without it.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// JSON to read.
fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => format!("{value:#}"),
    }
}
