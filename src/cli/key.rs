//! `jackpot key`: works on the key files, with or without a running service.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use jiff::Timestamp;

use super::{Failure, SettingsArgs, examples, failed};
use crate::keys::{Expiry, Key, KeyFile, KeyName, Rights, Role, Subject, Subjects};
use crate::settings::Settings;
use crate::signing::SigningFile;

/// Exit code for invalid usage that clap can't detect.
const WRONG_USAGE: u8 = 2;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Subcommand)]
enum Action {
    /// Make a key and print it, alone. It is shown only this once; only its hash is kept.
    #[command(after_help = examples::KEY_NEW)]
    New(NewArgs),
    /// List the keys: name, role, creation, end, whether they see codes, owner, and the subjects they may name.
    #[command(after_help = examples::KEY_LIST)]
    List,
    /// Revoke a key. A running service refuses it within 2 s, and ends what is open under it.
    #[command(after_help = examples::KEY_REVOKE)]
    Revoke {
        /// Name of the key.
        name: KeyName,
    },
    /// Make a new key that signs receipts and ledger heads, and print its id, alone. A running service signs with it
    /// within 2 s. Signatures of older keys stay valid.
    #[command(after_help = examples::KEY_ROTATE_SIGNING)]
    RotateSigning,
}

#[derive(clap::Args)]
struct NewArgs {
    /// Role of the key.
    #[arg(long)]
    role: Role,
    /// Name of the key in lists and in the audit trail.
    #[arg(long)]
    name: KeyName,
    /// Bind the key: its requests may name only this jackpot, coupon or room, and lists show only it. Up to 100 times.
    #[arg(long, value_name = "KIND:ID")]
    only: Vec<Subject>,
    /// When the key ends: 90s, 15m, 12h, 90d, 2w, or a time such as 2027-01-31T00:00:00Z; at most ten years.
    #[arg(long, value_name = "TIME")]
    expires: Option<Expiry>,
    /// Who holds the key, up to 64 letters, digits, . _ or -: approvals and voids need keys of two owners. Default: the
    /// key's own name.
    #[arg(long, value_name = "NAME")]
    owner: Option<KeyName>,
    /// Let a read key see the codes of coupons. Otherwise they are null in its answers.
    #[arg(long)]
    codes: bool,
    /// Make the data directory and an operator key if no service has started there yet.
    #[arg(long)]
    create: bool,
}

pub(super) fn run(args: Args) -> ExitCode {
    match act(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Usage(text)) => {
            eprintln!("jackpot: {text}");
            WRONG_USAGE.into()
        }
        Err(Failed::Work(error)) => failed(&*error),
    }
}

/// Why a command did nothing.
enum Failed {
    /// The request is invalid.
    Usage(String),
    /// It failed.
    Work(Failure),
}

impl<E: Into<Failure>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Work(error.into())
    }
}

fn act(args: Args) -> Result<(), Failed> {
    let settings = Settings::load(args.settings.config.as_deref())?;
    let file = KeyFile::of(&settings);
    let mut out = std::io::stdout().lock();
    match args.action {
        Action::New(wish) => {
            let (name, key) = new(wish, &file, &settings.data_dir)?;
            writeln!(out, "{key}")?;
            tell(&file, &name)?;
        }
        Action::List => write!(out, "{}", list(&file.read()?, Timestamp::now()))?,
        Action::Revoke { name } => {
            let operates = |keys: Vec<Key>| keys.iter().any(|key| key.role == Role::Operate);
            let before = operates(file.read()?);
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

fn new(wish: NewArgs, file: &KeyFile, data_dir: &Path) -> Result<(KeyName, String), Failed> {
    if wish.codes && wish.role != Role::Read {
        let sees = if wish.role == Role::Approve {
            "never sees the codes of coupons"
        } else {
            "sees the codes of coupons anyway"
        };
        let text = format!("--codes is for read keys: a key with the role {} {sees}", wish.role);
        return Err(Failed::Usage(text));
    }
    let only = (!wish.only.is_empty())
        .then(|| Subjects::try_from(wish.only))
        .transpose();
    let expires_at = wish.expires.map(|expiry| expiry.at(Timestamp::now())).transpose();
    let rights = Rights {
        role: wish.role,
        only: only.map_err(|rule| Failed::Usage(format!("--only: {rule}")))?,
        expires_at: expires_at.map_err(|rule| Failed::Usage(format!("--expires: {rule}")))?,
        codes: wish.codes,
        owner: wish.owner,
    };
    if !file.path().try_exists()? && !wish.create {
        agree(file.path(), data_dir)?;
    }
    let key = file.add(wish.name.clone(), rights)?;
    Ok((wish.name, key.expose().to_owned()))
}

/// Asks whether a service shall start here: with a wrong `data_dir`, the new operator key would belong to no service.
fn agree(keys: &Path, data_dir: &Path) -> Result<(), Failed> {
    let (keys, data_dir) = (std::path::absolute(keys)?, std::path::absolute(data_dir)?);
    let place = format!(
        "no service has used the data directory {} yet ({} is missing)",
        data_dir.display(),
        keys.display()
    );
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failed::Usage(format!(
            "{place}; start `jackpot serve` first, correct the setting data_dir, or say --create to make the directory with an \
             operator key"
        )));
    }
    eprint!("{place}.\nMake it, with an operator key? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failed::Usage("nothing was made".to_owned())),
    }
}

/// The new key, as a service will read it.
fn tell(file: &KeyFile, name: &KeyName) -> Result<(), Failed> {
    let path = std::path::absolute(file.path())?;
    let keys = file.read()?;
    let Some(key) = keys.iter().find(|key| key.name == *name) else {
        return Ok(());
    };
    eprintln!("{} key '{}' added to {}", key.role, name.as_str(), path.display());
    if let Some(only) = &key.only {
        eprintln!("it may name {only} alone; check the ids: they need not exist yet");
    }
    if let Some(at) = key.expires_at {
        eprintln!("it expires at {}", shown(at));
    }
    Ok(())
}

fn list(keys: &[Key], now: Timestamp) -> String {
    let mut text = format!(
        "{:<24}  {:<7}  {:<20}  {:<28}  CODES  {:<24}  ONLY\n",
        "NAME", "ROLE", "CREATED", "EXPIRES", "OWNER"
    );
    for key in keys {
        let expires = match key.expires_at {
            None => "never".to_owned(),
            Some(at) if key.is_over(now) => format!("{} expired", shown(at)),
            Some(at) => shown(at),
        };
        let codes = if key.sees_codes() { "yes" } else { "no" };
        let only = key.only.as_ref().map_or("-".to_owned(), Subjects::in_full);
        // Widths apply to text, not to values with only a display form.
        let (name, role, created) = (key.name.as_str(), key.role.to_string(), shown(key.created_at));
        let owner = key.owner();
        writeln!(
            text,
            "{name:<24}  {role:<7}  {created:<20}  {expires:<28}  {codes:<5}  {owner:<24}  {only}"
        )
        .expect("a text takes all");
    }
    text
}

/// The time in whole seconds.
fn shown(at: Timestamp) -> String {
    at.strftime("%FT%TZ").to_string()
}
