//! What the console's pages share.

use std::path::PathBuf;
use std::sync::Arc;

use jackpot_core::day::Days;
use jackpot_core::secret::Secrets;
use jiff::Timestamp;

use super::instances::Looks;
use super::session::Sessions;
use super::shared::Shared;
use super::signed_out::SignedOut;
use jackpot_kernel::keys::KeyStore;
use jackpot_kernel::settings::{Durability, RedisMode, Settings};
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::Store;

/// The console of this instance.
#[derive(Clone)]
pub struct Console {
    pub(super) keys: Arc<KeyStore>,
    pub(super) sessions: Sessions,
    pub(super) signed_out: SignedOut,
    pub(super) sql: Sql,
    pub(super) store: Store,
    pub(super) instance: Arc<Instance>,
    pub(super) shared: Arc<Shared>,
    pub(super) looks: Arc<Looks>,
    /// The days of reports.
    pub(super) days: Arc<Days>,
    /// Whether this instance takes TLS itself.
    pub(super) takes_tls: bool,
}

/// What an instance is set to.
pub struct Instance {
    /// As SQL names it; each start has another one.
    pub name: String,
    pub started: Timestamp,
    pub listen: String,
    pub workers: usize,
    pub redis: RedisMode,
    pub durability: Durability,
    /// The file of its settings, if there is one.
    pub settings_file: Option<PathBuf>,
}

impl Console {
    /// `instance`: the name of this start in SQL.
    pub fn new(
        settings: &Settings,
        secrets: &Secrets,
        keys: Arc<KeyStore>,
        sql: Sql,
        store: Store,
        instance: &str,
    ) -> Self {
        Self {
            keys,
            sessions: Sessions::new(secrets.clone()),
            signed_out: SignedOut::new(sql.clone()),
            sql,
            store,
            instance: Arc::new(Instance {
                name: instance.to_owned(),
                started: Timestamp::now(),
                listen: settings.http.listen.to_string(),
                workers: settings.workers(),
                redis: settings.redis.mode,
                durability: settings.redis.durability,
                settings_file: settings.file.clone(),
            }),
            shared: Arc::default(),
            looks: Arc::default(),
            days: Arc::new(settings.reports.days()),
            takes_tls: !settings.http.tls_cert_file.is_empty(),
        }
    }
}
