//! The option that chooses a scenario.

use std::path::PathBuf;

use clap::Args;

use super::file::File;
use crate::SimulateError;
use crate::jackpot::OF_JACKPOT;

/// Options of a market day.
#[derive(Debug, Clone, Args)]
pub struct MarketArgs {
    /// Play this file (TOML): several jackpots with sources, must-hit-by, cancelled rounds, transfers, an emergency stop and
    /// kills. How much is played, and the kills unless given here, stand in it. A
    /// subscriber of the run gets all events; it is killed as often as the service.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_JACKPOT, conflicts_with = "crowd", help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
    /// What the file says, once it was read.
    #[arg(skip)]
    pub file: Option<File>,
}

impl MarketArgs {
    /// What the file says.
    ///
    /// # Errors
    /// [`SimulateError::Usage`] with the file, the field and the rule.
    pub fn read(&self) -> Result<Option<File>, SimulateError> {
        let Some(path) = &self.scenario else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path).map_err(|source| SimulateError::File {
            doing: "reading",
            path: path.clone(),
            source,
        })?;
        let file = File::parse(&text).map_err(|rule| SimulateError::Usage(format!("{}: {rule}", path.display())))?;
        Ok(Some(file))
    }
}
