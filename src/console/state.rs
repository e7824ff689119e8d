//! What the console's pages share.

use std::sync::Arc;

use jackpot_core::secret::Secrets;

use super::session::Sessions;
use super::signed_out::SignedOut;
use crate::keys::KeyStore;
use crate::settings::Settings;
use crate::sql::Sql;

/// The console of this instance.
#[derive(Clone)]
pub struct Console {
    pub(super) keys: Arc<KeyStore>,
    pub(super) sessions: Sessions,
    pub(super) signed_out: SignedOut,
    pub(super) sql: Sql,
    /// Whether this instance takes TLS itself.
    pub(super) takes_tls: bool,
}

impl Console {
    #[must_use]
    pub fn new(settings: &Settings, secrets: &Secrets, keys: Arc<KeyStore>, sql: Sql) -> Self {
        Self {
            keys,
            sessions: Sessions::new(secrets.clone()),
            signed_out: SignedOut::new(sql.clone()),
            sql,
            takes_tls: !settings.http.tls_cert_file.is_empty(),
        }
    }
}
