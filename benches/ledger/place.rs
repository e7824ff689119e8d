//! A ledger with a private Redis, opened as the service opens them.

use std::path::Path;
use std::sync::Arc;

use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::view::Views;
use jackpot::ledger::Ledger;
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::master_secret;
use jackpot::settings::Settings;
use jackpot::store::Store;
use jackpot::telemetry::Metrics;

use crate::Outcome;

pub(crate) struct Place {
    pub(crate) settings: Settings,
    pub(crate) ledger: Ledger,
    pub(crate) store: Store,
    pub(crate) operate: Operate,
}

/// The default settings, except for the directory, the port and the ledger's URL.
pub(crate) fn settings(directory: &Path, url: &str) -> Outcome<Settings> {
    let file = directory.join("settings.toml");
    let data_dir = std::path::absolute(directory)?;
    let listen = format!("127.0.0.1:{}", jackpot_simulate::free_port()?);
    let text = serde_json::json!({"data_dir": data_dir, "http": {"listen": listen}, "ledger": {"url": url}});
    std::fs::write(&file, toml::to_string(&text)?)?;
    Ok(Settings::load(Some(&file))?)
}

impl Place {
    pub(crate) async fn open(directory: &Path, url: &str) -> Outcome<Self> {
        let settings = settings(directory, url)?;
        let secret = master_secret::load(&settings.fairness, &settings.data_dir)?;
        let ledger = Ledger::open(&settings.ledger, &settings.data_dir).await?;
        let store = Store::open(&settings.redis, &settings.data_dir).await?;
        ledger.claim(&store).await?;
        let views = Arc::new(Views::new(store.clone(), secret));
        Ok(Self {
            settings,
            ledger,
            operate: Operate::new(store.clone(), views),
            store,
        })
    }

    /// `index_days`: `ledger.entry_index_days`.
    pub(crate) fn projector(&self, instance: &str, index_days: u32) -> Projector<Jackpots> {
        let mut settings = self.settings.ledger.clone();
        settings.entry_index_days = index_days;
        let from = Projecting {
            ledger: &self.ledger,
            store: &self.store,
            metrics: &Arc::new(Metrics::new()),
            settings: &settings,
            instance,
            auto_restore: false,
        };
        let jackpots = Jackpots {
            operate: self.operate.clone(),
        };
        Projector::of(jackpots, &from)
    }

    pub(crate) async fn close(self) {
        self.store.close().await;
        self.ledger.sql.close().await;
    }
}
