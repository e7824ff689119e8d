//! `jackpot export`: the ledger of one jackpot, for auditors.

use std::io::Write;
use std::path::{Path, PathBuf};

use futures_util::{Stream, StreamExt};
use jackpot_core::ids::Id;
use jackpot_core::secret::Secrets;

use super::{CommandResult, SettingsArgs};
use crate::master_secret;
use crate::proof::export::{Export, ExportError, may_be_published};
use crate::settings::Settings;
use crate::signing::SigningKeys;
use crate::sql::Sql;

/// Write the ledger of a jackpot for `jackpot verify`: events, receipts, and epochs with the seeds that may be shown.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The jackpot.
    jackpot: String,
    /// Target file; default: standard output. The file appears whole or not at all.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &Args) -> CommandResult {
    let id = Id::parse(&args.jackpot).map_err(|error| format!("the jackpot's id {error}"))?;
    let settings = Settings::load(args.settings.config.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(export(&settings, id, args.output.as_deref()))
}

async fn export(settings: &Settings, id: Id, output: Option<&Path>) -> CommandResult {
    let ledger = Ledger::open(settings).await?;
    let lines = ledger.begin(id).await?.lines(ledger.secrets.clone(), may_be_published);
    match output {
        None => write(lines, &mut std::io::stdout().lock()).await?,
        Some(path) => {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let mut file = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
            let mut buffered = std::io::BufWriter::new(file.as_file_mut());
            write(lines, &mut buffered).await?;
            buffered.flush()?;
            drop(buffered);
            file.as_file().sync_all()?;
            file.persist(path)?;
        }
    }
    ledger.sql.close().await;
    Ok(())
}

async fn write(lines: impl Stream<Item = Result<bytes::Bytes, ExportError>>, out: &mut impl Write) -> CommandResult {
    let mut lines = std::pin::pin!(lines);
    while let Some(line) = lines.next().await {
        out.write_all(&line?)?;
    }
    Ok(out.flush()?)
}

/// The configured ledger, with everything that its export needs.
pub(super) struct Ledger {
    pub sql: Sql,
    keys: SigningKeys,
    pub secrets: Secrets,
}

impl Ledger {
    pub(super) async fn open(settings: &Settings) -> Result<Self, Box<dyn std::error::Error>> {
        // First, because without a ledger no secret is made either.
        let sql = Sql::open_to_read(&settings.ledger, &settings.data_dir).await?;
        let keys = SigningKeys::load(&settings.ledger.signing_key, &settings.data_dir)?;
        let secrets = master_secret::load(&settings.fairness, &settings.data_dir)?;
        Ok(Self { sql, keys, secrets })
    }

    pub(super) async fn begin(&self, id: Id) -> Result<Export, ExportError> {
        Export::begin(self.sql.clone(), id, &self.keys.current()).await
    }
}
