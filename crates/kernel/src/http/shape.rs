//! Explains to a client why its input does not fit: the field's path and the broken rule.

use serde::de::{Deserialize, Deserializer};
use serde_path_to_error::{Path, Track};

use super::problem::FieldError;

/// Longer texts are cut, because they repeat the client's input.
const MAX_TEXT: usize = 200;

/// A value, or the part of the input that prevented it. Unlike a bare deserializer's error, it has the field.
pub(super) struct Tracked<T>(pub(super) Result<T, FieldError>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Tracked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut track = Track::new();
        let value = T::deserialize(serde_path_to_error::Deserializer::new(deserializer, &mut track));
        Ok(Tracked(
            value.map_err(|error| field_error(&track.path(), &error.to_string())),
        ))
    }
}

pub(super) const MISSING: &str = "is required";
pub(super) const UNKNOWN: &str = "is not a known field";
pub(super) const TWICE: &str = "stands twice";

/// If a message of serde names a field, that field belongs to the path.
const NAMING: [(&str, &str); 3] = [
    ("missing field `", MISSING),
    ("unknown field `", UNKNOWN),
    ("duplicate field `", TWICE),
];

/// The rest of a serde message that names a field, and the name.
pub(super) fn named(message: &str) -> Option<(&'static str, &str)> {
    NAMING.iter().find_map(|(prefix, rule)| {
        let name = message.strip_prefix(prefix)?.split('`').next()?;
        Some((*rule, name))
    })
}

/// Puts a path and serde's message together.
pub(super) fn field_error(path: &Path, message: &str) -> FieldError {
    let message = message.rfind(" at line ").map_or(message, |at| &message[..at]);
    let mut field = path.to_string();
    if field == "." {
        field.clear();
    }
    if let Some((rule, name)) = named(message) {
        return FieldError::new(cut(&join(&field, name)), rule);
    }
    FieldError::new(cut(&field), cut(&plain_words(message)))
}

/// The path may already end with the name: it does if the value was wrong, not the name.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() || path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')) {
        return if path.is_empty() {
            name.to_owned()
        } else {
            path.to_owned()
        };
    }
    format!("{path}.{name}")
}

/// Names of Rust types mean nothing to a client.
fn plain_words(message: &str) -> String {
    let rule = match message.rsplit_once("expected ").map(|(_, expected)| expected) {
        Some("u64" | "usize") => "must be an integer from 0",
        Some("u32") => "must be an integer from 0 to 4294967295",
        Some("u16") => "must be an integer from 0 to 65535",
        Some("u8") => "must be an integer from 0 to 255",
        Some("i8" | "i16" | "i32" | "i64" | "isize") => "must be an integer",
        Some(expected) if expected.starts_with("struct ") => "must be an object",
        _ => message,
    };
    rule.to_owned()
}

pub fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
