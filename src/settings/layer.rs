//! One layer of settings: dotted keys with values, checked against the compiled-in default, which has every key.

use std::collections::BTreeMap;
use std::ffi::OsString;

use config::{Map, Value, ValueKind};

use super::SettingsError;

/// Dotted key → value. A later layer overrides an earlier one key by key; a list is one value.
pub(super) type Layer = BTreeMap<String, Value>;

/// The prefix of variables that are settings.
pub(super) const PREFIX: &str = "JACKPOT__";

/// Turns nested tables into dotted keys.
pub(super) fn flatten(table: Map<String, Value>) -> Layer {
    let mut flat = Layer::new();
    for (key, value) in table {
        flatten_into(&mut flat, key, value);
    }
    flat
}

fn flatten_into(flat: &mut Layer, key: String, value: Value) {
    match value.kind {
        // An empty table stays a leaf, so that an unknown empty section is noticed.
        ValueKind::Table(ref table) if !table.is_empty() => {
            for (name, inner) in table.clone() {
                flatten_into(flat, format!("{key}.{name}"), inner);
            }
        }
        _ => {
            flat.insert(key, value);
        }
    }
}

/// Refuses keys that the default does not have, and values of another type than the default's.
pub(super) fn check(layer: &mut Layer, default: &Layer, origin: &str) -> Result<(), SettingsError> {
    layer.retain(|key, value| !(is_empty_table(value) && is_section(key, default)));
    for (key, value) in layer {
        let Some(known) = default.get(key) else {
            return Err(SettingsError::UnknownKey {
                key: key.clone(),
                origin: origin.to_owned(),
            });
        };
        if !same_type(&known.kind, &value.kind) {
            return Err(SettingsError::WrongType {
                key: key.clone(),
                origin: origin.to_owned(),
                expected: type_name(&known.kind),
                found: type_name(&value.kind).to_owned(),
            });
        }
    }
    Ok(())
}

fn is_empty_table(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::Table(table) if table.is_empty())
}

fn is_section(key: &str, default: &Layer) -> bool {
    default
        .keys()
        .any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

fn same_type(known: &ValueKind, given: &ValueKind) -> bool {
    match (known, given) {
        // All lists are lists of strings.
        (ValueKind::Array(_), ValueKind::Array(items)) => {
            items.iter().all(|item| matches!(item.kind, ValueKind::String(_)))
        }
        (ValueKind::I64(_), ValueKind::I64(_)) | (ValueKind::String(_), ValueKind::String(_)) => true,
        _ => false,
    }
}

fn type_name(kind: &ValueKind) -> &'static str {
    match kind {
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => "an integer",
        ValueKind::String(_) => "a string",
        ValueKind::Array(_) => "a list of strings",
        ValueKind::Boolean(_) => "a boolean",
        ValueKind::Float(_) => "a number with a fraction",
        ValueKind::Table(_) => "a section",
        ValueKind::Nil => "nothing",
    }
}

/// The layer of `JACKPOT__SECTION__KEY` variables. The default decides each key's type, so a secret made of digits
/// stays a string.
pub(super) fn environment(
    variables: impl Iterator<Item = (OsString, OsString)>,
    default: &Layer,
) -> Result<Layer, SettingsError> {
    let mut layer = Layer::new();
    for (name, value) in variables {
        let Some(name) = name.to_str() else { continue };
        let Some(rest) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let Ok(text) = value.into_string() else {
            return Err(SettingsError::NotUtf8(name.to_owned()));
        };
        let key = rest.to_ascii_lowercase().replace("__", ".");
        let origin = format!("the environment variable {name}");
        let Some(known) = default.get(&key) else {
            return Err(SettingsError::UnknownKey { key, origin });
        };
        let kind = match &known.kind {
            ValueKind::I64(_) => match text.parse::<i64>() {
                Ok(number) => ValueKind::I64(number),
                Err(_) => {
                    return Err(SettingsError::WrongType {
                        key,
                        origin,
                        expected: "an integer",
                        found: format!("{text:?}"),
                    });
                }
            },
            ValueKind::Array(_) => ValueKind::Array(list(&text)),
            _ => ValueKind::String(text),
        };
        layer.insert(key, Value::new(Some(&origin), kind));
    }
    Ok(layer)
}

fn list(text: &str) -> Vec<Value> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(Value::from)
        .collect()
}
