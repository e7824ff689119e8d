//! `jackpot serve`.

use super::{CommandResult, SettingsArgs};
use crate::settings::Settings;
use crate::{app, telemetry};

pub(super) fn run(args: &SettingsArgs) -> CommandResult {
    let settings = Settings::load(args.config.as_deref())?;
    telemetry::init(&settings.log)?;
    let _flush = telemetry::trace::init(&settings.tracing)?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting");
    if !settings.unknown_variables.is_empty() {
        // Anyone who names a service may choose these names, so unprintable characters are escaped.
        let names = &settings.unknown_variables;
        tracing::warn!(
            ?names,
            "these variables are no settings and have no effect; settings begin with JACKPOT__"
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(app::serve(settings))?;
    Ok(())
}
