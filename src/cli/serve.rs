//! `jackpot serve`.

use super::{CommandResult, SettingsArgs};
use crate::settings::Settings;
use crate::{app, telemetry};

pub(super) fn run(args: &SettingsArgs) -> CommandResult {
    let settings = Settings::load(args.config.as_deref())?;
    telemetry::init(&settings.log)?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(app::serve(settings))?;
    Ok(())
}
