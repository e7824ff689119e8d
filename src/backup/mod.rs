//! A backup: the ledger as of one instant, and every secret and key without which it can't be gone on with.
//!
//! | where | what |
//! | --- | --- |
//! | [`directory`] | the directory of a backup: there whole, or not at all |
//! | [`manifest`] | what is in it, with sizes and hashes; the last file that is written |
//! | [`secrets`] | secrets and keys, wherever they come from and go to |
//! | [`marks`] | how far Redis is, and the wait until the ledger has it |
//! | [`check`] | the copy read back: chains, counts, keys |
//! | [`restore`] | an empty data directory, database and Redis begun with it |
//!
//! The copy itself is [`crate::sql::copy`]. `jackpot backup` and `jackpot restore --from` put these together.

pub mod check;
pub mod directory;
pub mod manifest;
pub mod marks;
pub mod restore;
pub mod secrets;

use std::path::Path;

use crate::settings::Settings;

/// The ledger in a backup, by its default name in a data directory: a backup is read as a data directory is.
pub const LEDGER: &str = "ledger.sqlite";

/// The settings of a service that has a backup for its data directory, and nothing configured elsewhere.
#[must_use]
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
