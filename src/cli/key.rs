//! `jackpot key`: works on the key files alone, whether or not a service runs.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::Subcommand;

use super::{CommandResult, SettingsArgs};
use crate::keys::{Key, KeyFile, KeyName, Role};
use crate::settings::Settings;
use crate::signing::SigningFile;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Subcommand)]
enum Action {
    /// Make a key and print it, alone. It is shown this once; only its hash is kept.
    New {
        /// What the key is for.
        #[arg(long)]
        role: Role,
        /// Name of the key in lists and in the audit trail.
        #[arg(long)]
        name: KeyName,
    },
    /// List the keys: name, role, when made.
    List,
    /// Revoke a key; a running service refuses it within 2 s.
    Revoke {
        /// Name of the key.
        name: KeyName,
    },
    /// Make a new key that signs receipts and ledger heads, and print its id, alone. A running service signs with it
    /// within 2 s; what older keys signed stays valid.
    RotateSigning,
}

pub(super) fn run(args: Args) -> CommandResult {
    let settings = Settings::load(args.settings.config.as_deref())?;
    let file = KeyFile::of(&settings);
    let mut out = std::io::stdout().lock();
    match args.action {
        Action::New { role, name } => {
            let path = std::path::absolute(file.path())?;
            writeln!(out, "{}", file.add(name.clone(), role)?.expose())?;
            eprintln!("{role} key '{}' added to {}", name.as_str(), path.display());
        }
        Action::List => write!(out, "{}", list(&file)?)?,
        Action::Revoke { name } => {
            let operates = |keys: Vec<Key>| keys.iter().any(|key| key.role == Role::Operate);
            let before = file.read().is_ok_and(operates);
            file.revoke(&name)?;
            let path = std::path::absolute(file.path())?;
            eprintln!("key '{}' revoked in {}", name.as_str(), path.display());
            if before && !operates(file.read()?) {
                eprintln!("warning: no operate key is left; make one with `jackpot key new --role operate`");
            }
        }
        Action::RotateSigning => {
            let file = SigningFile::of(&settings.ledger.signing_key, &settings.data_dir)?;
            writeln!(out, "{}", file.rotate()?.id())?;
            eprintln!("added to {}", std::path::absolute(file.path())?.display());
        }
    }
    Ok(())
}

fn list(file: &KeyFile) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = format!("{:<24}  {:<7}  CREATED\n", "NAME", "ROLE");
    for key in file.read()? {
        // Widths count for text, not for what only knows how to display itself.
        let role = key.role.to_string();
        writeln!(
            text,
            "{:<24}  {role:<7}  {}",
            key.name.as_str(),
            key.created_at.strftime("%FT%TZ")
        )?;
    }
    Ok(text)
}
