//! Jackpots defined by files at start, so that a first run has something to play.

use std::path::Path;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::document::Document;
use jackpot_core::violation::check_new_name;
use thiserror::Error;
use tracing::{error, info};

use super::error::PlayError;
use super::named::{Named, NamedError};
use super::operate::Operate;
use super::scripts::{ScriptError, Wanted};
use jackpot_api::jackpot::Status;
use jackpot_kernel::operator::Operator;
use jackpot_kernel::subject::MaybeScript;

/// Why a file did not define its jackpot.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file or directory cannot be read.
    #[error("{path}: {source}")]
    Read { path: String, source: std::io::Error },
    /// It is not a definition.
    #[error("{path}: {reason}")]
    Definition { path: String, reason: String },
    /// It is unknown whether the named rooms and coupons exist.
    #[error("{path}: {source}")]
    Named { path: String, source: NamedError },
    /// It could not be defined.
    #[error("{path}: {source}")]
    Define { path: String, source: Box<PlayError> },
}

/// Defines the jackpots of every `*.toml` in `directory` that do not exist yet. An existing jackpot keeps its
/// definition. A missing directory defines none.
pub async fn define_from(directory: &Path, operate: &Operate, named: &Named) -> Result<(), FileError> {
    for path in toml_files(directory)? {
        let at = || path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|source| FileError::Read { path: at(), source })?;
        let mut document: Document = toml::from_str(&text).map_err(|e| FileError::Definition {
            path: at(),
            reason: e.to_string(),
        })?;
        let status = document.status.take().map_or(Status::Open, Status::from);
        let checked = check_new_name(&document.name).and_then(|()| Definition::check(document));
        let definition = checked.map_err(|wrong| refused(at(), &wrong))?;
        let by = Operator {
            who: "file".to_owned(),
            owner: "file".to_owned(),
            request_id: String::new(),
        };
        let id = &definition.document().id;
        // For an existing jackpot the file does not count: it may name missing rooms or coupons.
        if let Err(PlayError::Script(ScriptError::Unknown)) = operate.views.refresh(id).await {
            let missing = match named.missing(definition.document()).await {
                Err(NamedError::Play(error)) if error.is_unavailable() => {
                    not_now(id, &at(), &error);
                    continue;
                }
                missing => missing.map_err(|source| FileError::Named { path: at(), source })?,
            };
            if !missing.is_empty() {
                return Err(refused(at(), &missing));
            }
        }
        match operate.define(id, &definition, Wanted::Absent, status, &by).await {
            Ok(_) => info!(jackpot_id = %id, file = at(), "defined a jackpot"),
            Err(PlayError::PreconditionFailed) => {}
            // The jackpot exists and returns this error to its callers. The others are served.
            Err(error @ (PlayError::Script(ScriptError::Behind { .. }) | PlayError::Lost { .. })) => {
                error!(jackpot_id = %id, %error, "this jackpot can't be read");
            }
            Err(error) if error.is_unavailable() => not_now(id, &at(), &error),
            Err(source) => {
                return Err(FileError::Define {
                    path: at(),
                    source: Box::new(source),
                });
            }
        }
    }
    Ok(())
}

/// A node of a cluster is away: its jackpot, or a room or coupon that it names. The others are served.
fn not_now(id: &Id, file: &str, error: &PlayError) {
    error!(jackpot_id = %id, file, %error, "not defined now, unless it existed: the next start defines it");
}

fn refused(path: String, wrong: &[Violation]) -> FileError {
    let rules = wrong.iter().map(|v| format!("{} {}", v.field, v.rule));
    FileError::Definition {
        path,
        reason: rules.collect::<Vec<_>>().join("; "),
    }
}

fn toml_files(directory: &Path) -> Result<Vec<std::path::PathBuf>, FileError> {
    let read = |source| FileError::Read {
        path: directory.display().to_string(),
        source,
    };
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(read)?,
    };
    let paths = entries
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(read)?;
    let mut paths = paths
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect::<Vec<_>>();
    paths.sort();
    Ok(paths)
}
