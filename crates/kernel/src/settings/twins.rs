//! Settings that hold a secret have a twin that names a file with it, such as `fairness.master_secret_file`.

use std::path::Path;

use config::{Value, ValueKind};

use super::SettingsError;
use super::layer::{self, Layer};
use crate::secret_file::{self, Readers, SecretFileError};

/// Largest file: a hundred URLs have some KiB.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The settings that can hold a secret.
const SECRETS: [&str; 6] = [
    "fairness.master_secret",
    "fairness.previous_secrets",
    "ledger.signing_key",
    "ledger.url",
    "redis.primary_url",
    "redis.urls",
];

/// The settings of each connection to a broker that can hold one.
const OF_CONNECTIONS: [&str; 2] = ["password", "token"];

/// Every setting that can hold a secret.
fn secrets(merged: &Layer) -> Vec<String> {
    let of_connections = layer::names(merged, "events.connections")
        .into_iter()
        .flat_map(|name| OF_CONNECTIONS.map(|key| format!("events.connections.{name}.{key}")));
    SECRETS.into_iter().map(str::to_owned).chain(of_connections).collect()
}

/// A secret from a file.
struct FromFile {
    key: String,
    file: String,
}

/// Which secrets came from files, for messages about them.
pub(super) struct FromFiles(Vec<FromFile>);

/// Reads the files, sets their values, and removes the twins.
///
/// # Errors
/// A setting beside its twin, or a file that can't be read, is open to others, or has other content.
pub(super) fn resolve(merged: &mut Layer) -> Result<FromFiles, SettingsError> {
    let mut all = Vec::new();
    for key in secrets(merged) {
        let twin = format!("{key}_file");
        let Some(ValueKind::String(file)) = merged.remove(&twin).map(|value| value.kind) else {
            continue;
        };
        if file.is_empty() {
            continue;
        }
        if !merged.get(&key).is_none_or(is_empty) {
            return Err(SettingsError::Conflict(format!(
                "settings {key} and {twin}: set one of them, not both"
            )));
        }
        let named = |rule: &str| SettingsError::Conflict(format!("setting {twin}: {file}: {rule}"));
        let text =
            secret_file::read(Path::new(&file), Readers::Group, MAX_FILE_BYTES).map_err(|error| match error {
                SecretFileError::Malformed { rule, .. } => named(&format!("must be {rule}")),
                other => SettingsError::Conflict(format!("setting {twin}: {other}")),
            })?;
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let is_list = matches!(merged.get(&key).map(|value| &value.kind), Some(ValueKind::Array(_)));
        let kind = match lines.as_slice() {
            [] => return Err(named("is empty")),
            _ if is_list => ValueKind::Array(lines.iter().map(|line| Value::from(*line)).collect()),
            [one] => ValueKind::String((*one).to_owned()),
            _ => return Err(named("must hold one line")),
        };
        merged.insert(key.clone(), Value::new(Some(&twin), kind));
        all.push(FromFile { key, file });
    }
    Ok(FromFiles(all))
}

fn is_empty(value: &Value) -> bool {
    match &value.kind {
        ValueKind::String(text) => text.is_empty(),
        ValueKind::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl FromFiles {
    /// Adds the file's name to a message about a setting.
    pub(super) fn explain(&self, error: SettingsError) -> SettingsError {
        let of = |key: &str| self.0.iter().find(|one| one.key == key);
        let place = |one: &FromFile| format!(" (from the file {}, which {}_file names)", one.file, one.key);
        match error {
            SettingsError::OutOfRange { key, value, rule } => {
                let place = of(&key).map(place).unwrap_or_default();
                SettingsError::OutOfRange {
                    rule: format!("{rule}{place}"),
                    key,
                    value,
                }
            }
            SettingsError::Conflict(text) => {
                let key = text
                    .strip_prefix("setting ")
                    .and_then(|rest| rest.split_once(':'))
                    .map(|(key, _)| key);
                let place = key.and_then(of).map(place).unwrap_or_default();
                SettingsError::Conflict(format!("{text}{place}"))
            }
            other => other,
        }
    }
}
