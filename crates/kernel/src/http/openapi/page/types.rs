//! Types: in a few words, with their limits, as trees of fields, and by name.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::prose::{prose, short};
use super::{items, members, pretty, text};

const PREFIX: &str = "#/components/schemas/";

type Examples = Map<String, Value>;

/// The examples of named types, as the bodies of the document have them.
pub(super) fn examples(document: &Value) -> BTreeMap<&str, &Examples> {
    let mut found = BTreeMap::new();
    collect(&document["paths"], &mut found);
    found
}

fn collect<'a>(value: &'a Value, found: &mut BTreeMap<&'a str, &'a Examples>) {
    match value {
        Value::Object(object) => {
            let examples = object.get("examples").and_then(Value::as_object);
            if let Some((name, examples)) = object.get("schema").and_then(name).zip(examples) {
                found.entry(name).or_insert(examples);
            }
            object.values().for_each(|inner| collect(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, found)),
        _ => {}
    }
}

/// A type that has a name.
pub(super) fn named(name: &str, schema: &Value, examples: Option<&Examples>) -> Markup {
    // A problem's examples are in the explanation of each problem.
    let examples = examples.filter(|examples| examples.values().all(|one| one.get("value").is_some()));
    html! {
        section.panel.stack-small {
            h3 id={ "type-" (name) } { (name) }
            (prose(text(schema, "description")))
            @if schema.get("properties").is_none() { p { (kind(schema)) (limits(schema)) } }
            (shape(schema))
            @if let Some(examples) = examples {
                details { summary { "Examples" } @for (name, example) in examples { p { (name) } pre { (pretty(&example["value"])) } } }
            }
        }
    }
}

/// The name of a schema that refers to a named type.
pub(super) fn name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(PREFIX)
}

pub(super) fn link(name: &str) -> Markup {
    html! { a href={ "#type-" (name) } { (name) } }
}

/// A type in a few words.
pub(super) fn kind(schema: &Value) -> Markup {
    if let Some(name) = name(schema) {
        return link(name);
    }
    if let Some(variants) = variants(schema) {
        return joined(variants.iter().map(kind));
    }
    if let Some(line) = schema.get("contentSchema") {
        return html! { "lines of " (kind(line)) };
    }
    match &schema["type"] {
        Value::String(only) => one_kind(only, schema),
        Value::Array(several) => joined(
            several
                .iter()
                .filter_map(Value::as_str)
                .map(|one| one_kind(one, schema)),
        ),
        _ => html! { "any value" },
    }
}

fn one_kind(kind_name: &str, schema: &Value) -> Markup {
    let format = schema["format"].as_str().filter(|format| !format.starts_with("int"));
    let values = schema.get("additionalProperties").filter(|values| values.is_object());
    match kind_name {
        "array" => html! { "array of " (kind(&schema["items"])) },
        "object" if values.is_some() => html! { "object with values: " (kind(&schema["additionalProperties"])) },
        "string" if format.is_some() => html! { "string, " (format.unwrap_or_default()) },
        _ => html! { (kind_name) },
    }
}

/// Markup with "or" and "and" spelled the same: each after another.
pub(super) fn joined(parts: impl Iterator<Item = Markup>) -> Markup {
    html! { @for (place, part) in parts.enumerate() { @if place > 0 { " or " } (part) } }
}

fn variants(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

/// The limits of a value, after its type.
pub(super) fn limits(schema: &Value) -> Markup {
    let code = |value: &Value| html! { code { (pretty(value)) } };
    html! {
        @if let Some(values) = schema["enum"].as_array() { ": " (joined(values.iter().map(code))) }
        @if let Some(only) = schema.get("const") { ": " (code(only)) }
        (range(schema, "minimum", "maximum", ""))
        (range(schema, "minLength", "maxLength", " characters"))
        (range(schema, "minItems", "maxItems", " items"))
        (range(schema, "minProperties", "maxProperties", " members"))
        @if schema["uniqueItems"] == true { ", no item twice" }
        @if let Some(pattern) = schema["pattern"].as_str() { ", pattern " code { (pattern) } }
        @if let Some(default) = schema.get("default") { ", default " (code(default)) }
        @if let Some(keys) = schema.get("propertyNames").filter(|keys| keys.get("type").is_some() || keys.get("pattern").is_some()) {
            "; its names: " (kind(keys)) (limits(keys))
        }
        @if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) { (limits(values)) }
        @if schema["items"].is_object() { (limits(&schema["items"])) }
    }
}

fn range(schema: &Value, least: &str, most: &str, unit: &str) -> Markup {
    html! {
        @match (schema.get(least), schema.get(most)) {
            (Some(least), Some(most)) => { ", " (pretty(least)) " to " (pretty(most)) (unit) }
            (Some(least), None) => { ", at least " (pretty(least)) (unit) }
            (None, Some(most)) => { ", at most " (pretty(most)) (unit) }
            (None, None) => {}
        }
    }
}

/// The tree of a type that has no name: the fields of an object, and the variants of a union that are not named.
pub(super) fn shape(schema: &Value) -> Markup {
    if name(schema).is_some() {
        return html! {};
    }
    if let Some(variants) = variants(schema) {
        let is_plain = |one: &Value| one.get("properties").is_none() && one.get("description").is_none();
        return html! {
            @if !variants.iter().all(is_plain) {
                p { "One of:" }
                ul.stack-small { @for one in variants { li {
                    @if one.get("properties").is_none() { (kind(one)) (limits(one)) }
                    (prose(text(one, "description")))
                    (shape(one))
                } } }
            }
        };
    }
    let inner = ["items", "additionalProperties"]
        .iter()
        .find_map(|key| schema.get(*key).filter(|inner| inner.is_object()));
    html! {
        @if schema["properties"].is_object() { (fields(schema)) }
        @if let Some(inner) = inner { (shape(inner)) }
    }
}

fn fields(schema: &Value) -> Markup {
    let is_required = |name: &str| items(&schema["required"]).any(|one| one == name);
    html! {
        dl.schema { @for (name, field) in members(&schema["properties"]) {
            div {
                dt { code { (name) } @if is_required(name) { " " span.badge { "required" } } }
                dd { (kind(field)) (limits(field)) @if let Some(about) = field["description"].as_str() { p { (short(about)) } } (shape(field)) }
            }
        } }
        @if schema["additionalProperties"] == false { p.hint { "No other field is accepted." } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: &Value) -> String {
        html! { (kind(schema)) (limits(schema)) }.into_string()
    }

    #[test]
    fn a_type_is_said_in_a_few_words() {
        for (schema, wanted) in [
            (json!({}), "any value"),
            (
                json!({"$ref": "#/components/schemas/Tier"}),
                "<a href=\"#type-Tier\">Tier</a>",
            ),
            (
                json!({"type": "integer", "format": "int64", "minimum": 1}),
                "integer, at least 1",
            ),
            (
                json!({"type": ["string", "null"], "format": "date-time"}),
                "string, date-time or null",
            ),
            (
                json!({"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 64}}),
                "array of string, at most 8 items, at most 64 characters",
            ),
            (
                json!({"oneOf": [{"$ref": "#/components/schemas/Take"}, {"type": "null"}]}),
                "<a href=\"#type-Take\">Take</a> or null",
            ),
            (
                json!({"type": "string", "enum": ["a", "b"], "default": "a"}),
                "string: <code>a</code> or <code>b</code>, default <code>a</code>",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                "object with values: integer",
            ),
            (
                json!({"type": "string", "contentSchema": {"$ref": "#/components/schemas/Line"}}),
                "lines of <a href=\"#type-Line\">Line</a>",
            ),
        ] {
            assert_eq!(words(&schema), wanted, "{schema}");
        }
    }

    #[test]
    fn an_object_within_a_list_is_shown_as_a_tree() {
        let schema = json!({"type": "array", "items": {"type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "object", "properties": {"b": {"type": "string", "description": "Of `b`."}}}}}});
        assert_eq!(
            shape(&schema).into_string(),
            "<dl class=\"schema\"><div><dt><code>a</code> <span class=\"badge\">required</span></dt><dd>object\
             <dl class=\"schema\"><div><dt><code>b</code></dt><dd>string<p>Of <code>b</code>.</p></dd></div></dl></dd></div></dl>\
             <p class=\"hint\">No other field is accepted.</p>"
        );
    }
}
