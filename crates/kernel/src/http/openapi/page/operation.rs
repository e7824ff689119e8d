//! One operation: who may call it, what it takes, how it answers.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::prose::{prose, short, unlinked};
use super::{curl, items, members, pretty, text, types};
use crate::http::problem;

/// What begins the paragraph that names the roles, which are shown apart.
const ROLES: &str = "Role of the key:";
const STREAM: &str = "text/event-stream";

pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    /// In lower case.
    pub(super) method: &'a str,
    /// As the document describes it.
    pub(super) about: &'a Value,
}

impl Operation<'_> {
    pub(super) fn tag(&self) -> &str {
        self.about["tags"][0].as_str().unwrap_or("other")
    }

    pub(super) fn needs_key(&self) -> bool {
        self.about.get("security").is_some()
    }

    pub(super) fn streams(&self) -> bool {
        self.about["responses"]["200"]["content"].get(STREAM).is_some()
    }

    pub(super) fn show(&self, document: &Value) -> Markup {
        let (id, summary) = (text(self.about, "operationId"), text(self.about, "summary"));
        html! {
            details.operation {
                summary {
                    h3 { span.method { (self.method.to_uppercase()) } " " code { (self.path) } }
                    " " span.muted { (unlinked(summary)) }
                }
                div.stack-small id=(id) {
                    (self.description(summary))
                    dl.facts { dt { "Operation" } dd { a href={ "#" (id) } { code { (id) } } } dt { "Who may call it" } dd { (self.roles()) } }
                    (self.parameters())
                    (self.body())
                    h4 { "Call" }
                    pre.copied { (curl::line(self)) }
                    (self.answers(document))
                }
            }
        }
    }

    /// What the summary does not say.
    fn description(&self, summary: &str) -> Markup {
        let paragraphs = text(self.about, "description").split("\n\n");
        let more: Vec<_> = paragraphs
            .filter(|text| !text.starts_with(ROLES) && *text != summary)
            .collect();
        prose(&more.join("\n\n"))
    }

    fn roles(&self) -> Markup {
        let roles: Vec<_> = items(&self.about["x-roles"]).filter_map(Value::as_str).collect();
        let is_optional = items(&self.about["security"]).any(|scheme| scheme.as_object().is_some_and(Map::is_empty));
        html! {
            @if !self.needs_key() { "Everyone, without a key" }
            @else {
                @if is_optional { "Everyone, for what is public; otherwise a" } @else { "A" }
                " key with the role " (types::joined(roles.iter().map(|role| html! { code { (role) } })))
            }
        }
    }

    fn parameters(&self) -> Markup {
        let mut parameters = items(&self.about["parameters"]).peekable();
        html! {
            @if parameters.peek().is_some() {
                h4 { "Parameters" }
                dl.schema { @for parameter in parameters {
                    div {
                        dt { code { (text(parameter, "name")) } @if parameter["required"] == true { " " span.badge { "required" } } }
                        dd {
                            (text(parameter, "in")) ", " (types::kind(&parameter["schema"])) (types::limits(&parameter["schema"]))
                            (prose(text(parameter, "description")))
                            @if let Some(example) = parameter.get("example") { p { "Example: " code { (pretty(example)) } } }
                        }
                    }
                } }
            }
        }
    }

    fn body(&self) -> Markup {
        html! {
            @for (kind, media) in members(&self.about["requestBody"]["content"]) {
                h4 { "Body" }
                p { (types::kind(&media["schema"])) ", as " code { (kind) } }
                (prose(text(&self.about["requestBody"], "description")))
                (types::shape(&media["schema"]))
            }
        }
    }

    fn answers(&self, document: &Value) -> Markup {
        let all = || members(&self.about["responses"]);
        let is_problem = |answer: &Value| answer["content"].get(problem::CONTENT_TYPE).is_some();
        let example = all()
            .find(|(status, _)| status.starts_with('2'))
            .and_then(|(_, answer)| members(&answer["content"]).next())
            .map(|(_, media)| curl::first_example(media))
            .filter(|example| !example.is_null());
        html! {
            h4 { "Answers" }
            dl.schema { @for (status, answer) in all().filter(|(_, answer)| !is_problem(answer)) { (shown(status, answer, document)) } }
            @if let Some(example) = example {
                details { summary { "Example of an answer" } pre { (pretty(&example)) } }
            }
            @if all().any(|(_, answer)| is_problem(answer)) {
                details {
                    summary { "Problems" }
                    dl.schema { @for (status, answer) in all().filter(|(_, answer)| is_problem(answer)) { (shown(status, answer, document)) } }
                }
            }
        }
    }
}

fn shown(status: &str, answer: &Value, document: &Value) -> Markup {
    // All problems have one type: the section about them names it.
    let bodies = members(&answer["content"]).filter(|(_, media)| types::name(&media["schema"]) != Some("Problem"));
    let headers: Vec<_> = members(&answer["headers"])
        .filter(|(name, _)| *name != "X-Request-Id")
        .collect();
    html! {
        div {
            dt { span.badge { (status) } }
            dd {
                (short(text(answer, "description")))
                @for (kind, media) in bodies { p { (types::kind(&media["schema"])) ", as " code { (kind) } } (types::shape(&media["schema"])) }
                @if !headers.is_empty() && status.starts_with(['2', '3']) {
                    p { "With " (types::joined(headers.iter().map(|(name, header)| named(name, header, document)))) }
                }
            }
        }
    }
}

/// A header of an answer, and what is special about it here.
fn named(name: &str, header: &Value, document: &Value) -> Markup {
    let is_common = document["components"]["headers"].get(name).is_some() && header.get("$ref").is_some();
    html! { code { (name) } @if !is_common { " (" (short(text(header, "description"))) ")" } }
}
