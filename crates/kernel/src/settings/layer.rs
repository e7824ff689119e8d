//! One layer of settings: dotted keys with values, checked against the compiled-in default, which has every key.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;

use config::{Map, Value, ValueKind};

use super::SettingsError;

/// Dotted key → value. A later layer overrides an earlier one key by key; a list is one value.
pub(super) type Layer = BTreeMap<String, Value>;

/// The prefix of variables that are settings.
pub(super) const PREFIX: &str = "JACKPOT__";

/// Sections with one more level, whose names the operator chooses. The default has their keys below the name `*`.
const NAMED: [&str; 1] = ["events.connections"];

/// The name that stands for all names in the default.
const ANY: &str = "*";

/// Section, name and last part of a key of a named section.
fn named(key: &str) -> Option<(&'static str, &str, &str)> {
    NAMED.into_iter().find_map(|section| {
        let (name, rest) = key.strip_prefix(section)?.strip_prefix('.')?.split_once('.')?;
        Some((section, name, rest))
    })
}

/// The names that the layer has in a named section, in order.
pub(super) fn names(layer: &Layer, section: &str) -> Vec<String> {
    let all = layer.keys().filter_map(|key| named(key));
    let of_section = all.filter(|(found, name, _)| *found == section && *name != ANY);
    let mut names: Vec<String> = of_section.map(|(_, name, _)| name.to_owned()).collect();
    names.dedup();
    names
}

/// The key by which the default has it.
pub(super) fn in_default(key: &str) -> Cow<'_, str> {
    match named(key) {
        Some((section, _, rest)) => Cow::Owned(format!("{section}.{ANY}.{rest}")),
        None => Cow::Borrowed(key),
    }
}

/// The default's value of a key.
fn known<'a>(key: &str, default: &'a Layer) -> Option<&'a Value> {
    match named(key) {
        Some((_, name, _)) if !is_name(name) => None,
        _ => default.get(in_default(key).as_ref()),
    }
}

/// A name of an environment variable can hold it.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// Gives each named section the default's value of every key that it lacks.
pub(super) fn complete(merged: &mut Layer) {
    for section in NAMED {
        let prefix = format!("{section}.{ANY}.");
        let (of_all, rest): (Layer, Layer) = std::mem::take(merged)
            .into_iter()
            .partition(|(key, _)| key.starts_with(&prefix));
        *merged = rest;
        for name in names(merged, section) {
            for (key, value) in &of_all {
                let key = format!("{section}.{name}.{}", &key[prefix.len()..]);
                merged.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
}

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
        let Some(known) = known(key, default) else {
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
        (ValueKind::I64(_), ValueKind::I64(_))
        | (ValueKind::Boolean(_), ValueKind::Boolean(_))
        | (ValueKind::String(_), ValueKind::String(_)) => true,
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
        let Some(known) = known(&key, default) else {
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
