//! Makes schemas that generators and validators read: flat, each type once, each text and number with its bounds.

use jackpot_core::money::MAX_MINOR;
use serde_json::{Map, Value, json};

use super::words::{self, Within};

/// Schemas by name.
pub(super) type Schemas = Map<String, Value>;

const PREFIX: &str = "#/components/schemas/";

/// Completes all schemas.
pub(super) fn complete(schemas: &mut Schemas) {
    let names = schemas.keys().cloned().collect::<Vec<_>>();
    for name in &names {
        let flat = flat(&schemas[name], schemas);
        schemas.insert(name.clone(), flat);
    }
    let known = schemas.clone();
    for (name, schema) in schemas.iter_mut() {
        for inner in children(schema) {
            refer(inner, &known);
        }
        visit(name, schema);
    }
}

/// Merges the parts that serde flattens into one object, because generators drop a union within an intersection. The
/// fields of a union's variants are optional, unless all variants have them. An answer has all fields of a definition.
fn flat(schema: &Value, schemas: &Schemas) -> Value {
    let Some(parts) = schema.get("allOf").and_then(Value::as_array) else {
        return schema.clone();
    };
    let mut whole = json!({"type": "object", "properties": {}, "required": []});
    if let Some(about) = schema.get("description") {
        whole["description"] = about.clone();
    }
    // serde writes the flattened part after or before the struct's own fields; the order has no meaning.
    for part in parts.iter().rev() {
        join(&mut whole, &resolved(part, schemas), schemas, true);
    }
    whole
}

fn resolved(schema: &Value, schemas: &Schemas) -> Value {
    let target = schema.get("$ref").and_then(Value::as_str);
    match target.and_then(|target| schemas.get(target.strip_prefix(PREFIX)?)) {
        Some(found) => flat(found, schemas),
        None => flat(schema, schemas),
    }
}

fn join(whole: &mut Value, part: &Value, schemas: &Schemas, required: bool) {
    if let Some(variants) = part.get("oneOf").and_then(Value::as_array) {
        for variant in variants {
            join(whole, &resolved(variant, schemas), schemas, false);
        }
        return;
    }
    let is_definition = part.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, property) in part["properties"].as_object().into_iter().flatten() {
        let mut property = property.clone();
        if is_definition {
            if let Some(property) = property.as_object_mut() {
                property.remove("default");
            }
            if let Some(required) = whole["required"].as_array_mut().filter(|_| !may_be_null(&property)) {
                required.push(name.as_str().into());
            }
        }
        let property = match whole["properties"].get(name) {
            None => property,
            Some(known) if *known == property => continue,
            Some(known) => match (names(known, schemas), names(&property, schemas)) {
                (Some(some), Some(others)) => {
                    let about = property.get("description");
                    json!({"type": "string", "enum": union(some, others), "description": about})
                }
                _ => continue,
            },
        };
        whole["properties"][name] = property;
    }
    if required
        && !is_definition
        && let (Some(all), Some(more)) = (whole["required"].as_array_mut(), part["required"].as_array())
    {
        all.extend(more.iter().cloned());
    }
}

/// The values of a text that has one of some names.
fn names<'a>(property: &'a Value, schemas: &'a Schemas) -> Option<&'a Vec<Value>> {
    let target = property.get("$ref").and_then(Value::as_str);
    let named = target.and_then(|target| schemas.get(target.strip_prefix(PREFIX)?));
    named.unwrap_or(property).get("enum")?.as_array()
}

fn union(some: &[Value], others: &[Value]) -> Vec<Value> {
    let more = others.iter().filter(|value| !some.contains(value));
    some.iter().chain(more).cloned().collect()
}

fn may_be_null(property: &Value) -> bool {
    let kinds = property["type"].as_array();
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
}

/// The schemas that a schema consists of.
fn children(schema: &mut Value) -> Vec<&mut Value> {
    let Some(object) = schema.as_object_mut() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => found.extend(properties.values_mut()),
            ("oneOf" | "anyOf" | "allOf", Value::Array(parts)) => found.extend(parts),
            ("items", items @ Value::Object(_)) => found.push(items),
            _ => {}
        }
    }
    found
}

/// Replaces a copy of a named type by a reference to it.
pub(super) fn refer(value: &mut Value, schemas: &Schemas) {
    if value.get("allOf").is_some() {
        *value = flat(value, schemas); // as the named ones are
    }
    if let Some(properties) = value.get("properties").filter(|_| value.get("$ref").is_none()) {
        let same = schemas.iter().find(|(_, known)| {
            known.get("properties") == Some(properties) && known.get("required") == value.get("required")
        });
        if let Some((name, _)) = same {
            *value = json!({"$ref": format!("{PREFIX}{name}")});
            return;
        }
    }
    match value {
        Value::Object(object) => object.values_mut().for_each(|inner| refer(inner, schemas)),
        Value::Array(items) => items.iter_mut().for_each(|inner| refer(inner, schemas)),
        _ => {}
    }
}

fn visit(owner: &str, schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            constrain(Within::Schema(owner), name, property);
        }
    }
    // A variant with two names does not count.
    if words::is_request_union(owner) {
        for variant in schema
            .get_mut("oneOf")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let name = variant.pointer("/required/0").or_else(|| variant.pointer("/enum/0"));
            if let Some(name) = name.and_then(Value::as_str).map(|name| format!("{owner}_{name}")) {
                variant["title"] = name.into();
            }
            if variant.get("properties").is_some() {
                variant["additionalProperties"] = false.into();
            }
        }
    }
    if owner == "BatchEntry" {
        schema["additionalProperties"] = false.into();
    }
    if owner == "PlayBody"
        && let Some(jackpots) = schema.pointer_mut("/properties/jackpots")
    {
        jackpots["uniqueItems"] = true.into();
    }
    if owner == "IssueWish"
        && let Some(metadata) = schema.pointer_mut("/properties/metadata")
    {
        metadata["minProperties"] = 1.into();
        metadata["maxProperties"] = 16.into();
        metadata["propertyNames"] = json!({"type": "string", "minLength": 1, "maxLength": 64, "pattern": words::PLAIN});
        metadata["additionalProperties"] = json!({"type": "string", "maxLength": 1_024, "pattern": words::PLAIN});
    }
    for inner in children(schema) {
        visit(owner, inner);
    }
}

/// Bounds of a property or parameter, by its name and type, if it has none of its own.
pub(super) fn constrain(within: Within<'_>, name: &str, schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    // A type that fills in missing fields: answers always have them.
    if object.get("default").is_some_and(|default| default == "") {
        object.remove("default");
    }
    let is = |kind: &str| match object.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => false,
    };
    if is("string") {
        if let Some(values) = words::values(within, name) {
            if values.len() == 1 && values[0].starts_with('#') {
                *schema = json!({"$ref": values[0], "description": object.get("description")});
                return;
            }
            let mut values = values.iter().map(|value| Value::from(*value)).collect::<Vec<_>>();
            if is("null") {
                values.push(Value::Null);
            }
            object.insert("enum".to_owned(), values.into());
            // A title for generators: the two words alone might name a type.
            let Within::Schema(owner) = within else { return };
            object.insert("title".to_owned(), format!("{owner} {name} value").into());
        } else if !["pattern", "enum", "format"]
            .iter()
            .any(|key| object.contains_key(*key))
            && let Some((key, value)) = words::text(within, name)
        {
            object.insert(key.to_owned(), value.into());
        }
    } else if is("integer") && object.get("minimum").is_some() {
        for (key, value) in words::bounds(within, name) {
            object.insert(key.to_owned(), value.into());
        }
        // utoipa's format of u32 ends at 2^31-1.
        let wide = object.get("format").is_none_or(|format| format == "int64");
        let most = if wide { MAX_MINOR } else { u64::from(u32::MAX) };
        let most = object.entry("maximum").or_insert_with(|| most.into());
        if most.as_u64().is_some_and(|most| most > i32::MAX as u64) {
            object.insert("format".to_owned(), "int64".into());
        }
    }
}
