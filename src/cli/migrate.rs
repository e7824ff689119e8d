//! `jackpot migrate`: brings the ledger's schema up to date, as the service does at its start.

use std::io::Write as _;

use super::{CommandResult, SettingsArgs};
use crate::settings::Settings;
use crate::sql::Sql;

pub(super) fn run(args: &SettingsArgs) -> CommandResult {
    let settings = Settings::load(args.config.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let migrated = runtime.block_on(Sql::migrate(&settings.ledger, &settings.data_dir))?;
    let mut out = std::io::stdout().lock();
    if migrated.from == migrated.to {
        writeln!(out, "{}: schema version {}, up to date", migrated.place, migrated.to)?;
    } else {
        writeln!(
            out,
            "{}: schema version {} -> {}",
            migrated.place, migrated.from, migrated.to
        )?;
    }
    Ok(())
}
