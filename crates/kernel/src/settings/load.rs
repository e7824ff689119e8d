//! Merges the layers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat, Source, ValueKind};

use super::{Settings, SettingsError, check, layer, range, twins, variables};

/// The first layer. It has every key, with documentation.
const DEFAULT: &str = include_str!("../../../../config/default.toml");

/// The format of settings that this version reads.
pub(super) const FORMAT: i64 = 1;

/// Chooses a file in `config/` by name, for example `production`.
const FILE_VARIABLE: &str = "JACKPOT_ENV";

impl Settings {
    /// Reads all layers: the compiled-in default, `file` or else `config/<JACKPOT_ENV>.toml`, the environment.
    ///
    /// # Errors
    /// The first mistake, with the key's full name.
    pub fn load(file: Option<&Path>) -> Result<Settings, SettingsError> {
        Settings::from_layers(file, std::env::vars_os().collect())
    }

    /// [`Settings::load`] with the environment as an argument.
    pub(super) fn from_layers(
        file: Option<&Path>,
        variables: Vec<(OsString, OsString)>,
    ) -> Result<Settings, SettingsError> {
        let default = layer::flatten(File::from_str(DEFAULT, FileFormat::Toml).collect()?);
        let mut merged = default.clone();
        let file = chosen_file(file, &variables)?;
        if let Some(path) = &file {
            let mut given = read(path)?;
            check_format(path, &given)?;
            layer::check(&mut given, &default, &path.display().to_string())?;
            merged.extend(given);
        }
        let unknown_variables = variables::unknown(&variables);
        merged.extend(layer::environment(variables.into_iter(), &default)?);
        layer::complete(&mut merged);
        range::check(&merged)?;
        let from_files = twins::resolve(&mut merged)?;
        let settings = Settings {
            file: file.and_then(|path| std::path::absolute(path).ok()),
            unknown_variables,
            ..assemble(&merged)?
        };
        check::together(&settings).map_err(|error| from_files.explain(error))?;
        Ok(settings)
    }
}

fn chosen_file(file: Option<&Path>, variables: &[(OsString, OsString)]) -> Result<Option<PathBuf>, SettingsError> {
    if let Some(path) = file {
        return Ok(Some(path.to_owned()));
    }
    let Some((_, name)) = variables
        .iter()
        .find(|(name, value)| name == FILE_VARIABLE && !value.is_empty())
    else {
        return Ok(None);
    };
    let plain = |name: &&str| {
        name.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    match name.to_str().filter(plain) {
        Some(name) => Ok(Some(PathBuf::from(format!("config/{name}.toml")))),
        None => Err(SettingsError::Environment(name.to_string_lossy().into_owned())),
    }
}

fn read(path: &Path) -> Result<layer::Layer, SettingsError> {
    let failed = |reason: String| SettingsError::File {
        path: path.to_owned(),
        reason,
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    // Parsed twice, because the parser's own report would repeat the wrong line.
    toml::from_str::<toml::Table>(&text).map_err(|error| failed(without_the_line(&error, &text)))?;
    let table = File::from_str(&text, FileFormat::Toml).collect()?;
    Ok(layer::flatten(table))
}

/// Refuses a file of another format by its number. Else the first key that this version lacks would look like a mistake.
fn check_format(path: &Path, given: &layer::Layer) -> Result<(), SettingsError> {
    match given.get("format").map(|value| &value.kind) {
        Some(ValueKind::I64(found)) if *found != FORMAT => Err(SettingsError::Format {
            path: path.to_owned(),
            found: *found,
        }),
        _ => Ok(()),
    }
}

fn without_the_line(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, error.message())
}

fn assemble(merged: &layer::Layer) -> Result<Settings, SettingsError> {
    let mut builder = Config::builder();
    for (key, value) in merged {
        builder = builder.set_override(key, value.clone())?;
    }
    let config = builder.build()?;
    // Types and ranges have been checked. Only the text of an address can fail here.
    serde_path_to_error::deserialize(config).map_err(|error| {
        let key = error.path().to_string();
        let value = merged
            .get(&key)
            .map_or_else(String::new, |value| format!(" = {:?}", value.kind.to_string()));
        let rule = format!(
            "an address with a port, such as 127.0.0.1:8080 ({})",
            error.into_inner()
        );
        SettingsError::OutOfRange { key, value, rule }
    })
}
