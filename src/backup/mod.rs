//! A backup: the ledger as of one instant, and all secrets and keys that are needed to continue with it.
//!
//! | where | what |
//! | --- | --- |
//! | [`directory`] | the directory of a backup: complete, or absent |
//! | [`manifest`] | what the backup holds, with sizes and hashes; written last |
//! | [`secrets`] | secrets and keys, from settings or files |
//! | [`marks`] | how far Redis is, and the wait until the ledger has caught up |
//! | [`check`] | reads the copy back: chains, counts, keys |
//! | [`restore`] | starts an empty data directory, database and Redis from a backup |
//!
//! The copy itself is [`crate::sql::copy`]. `jackpot backup` and `jackpot restore --from` combine these.

pub mod check;
pub mod directory;
pub mod manifest;
pub mod marks;
pub mod restore;
pub mod secrets;

use std::path::Path;

use crate::settings::Settings;

/// The ledger in a backup. It has the default name in a data directory, because a backup is read like a data directory.
pub const LEDGER: &str = "ledger.sqlite";

/// The settings of a service whose data directory is the backup, with nothing configured elsewhere.
pub fn inside(settings: &Settings, directory: &Path) -> Settings {
    let mut inside = settings.clone();
    directory.clone_into(&mut inside.data_dir);
    inside.auth.keys_file.clear();
    inside.fairness.master_secret.clear();
    inside.fairness.previous_secrets.clear();
    inside.ledger.url.clear();
    inside.ledger.signing_key.clear();
    inside
}
