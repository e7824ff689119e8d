//! The result of a verification: problems with their places, what was checked, and what could not be checked.

use std::collections::BTreeMap;
use std::fmt;

/// Most problems that are listed: one broken event may break every later one. Further problems are only counted.
pub const MAX_PROBLEMS: usize = 100;

/// Where a problem is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of the export, from 1.
    Line(u64),
    /// An event.
    Event(u64),
    /// An epoch.
    Epoch(u64),
    /// A cycle: tier and number.
    Cycle(String, u64),
    /// A receipt, by its payout id.
    Receipt(String),
    /// The signed head that ends the export.
    Head,
    /// A head that the auditor kept.
    KeptHead,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Event(n) => write!(f, "event {n}"),
            Self::Epoch(epoch) => write!(f, "epoch {epoch}"),
            Self::Cycle(tier, cycle) => write!(f, "cycle {cycle} of tier '{tier}'"),
            Self::Receipt(payout_id) => write!(f, "receipt {payout_id}"),
            Self::Head => f.write_str("head"),
            Self::KeptHead => f.write_str("kept head"),
        }
    }
}

/// A problem that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub place: Place,
    pub what: String,
}

/// How much was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events whose hash was recomputed.
    pub events: u64,
    /// Events whose effect on every meter was recomputed.
    pub replayed: u64,
    /// Entries whose contribution was recomputed.
    pub entries: u64,
    /// Entries whose draw was recomputed.
    pub draws: u64,
    /// How many of these entries had a client seed.
    pub client_seeds: u64,
    /// Claims and ends of entries whose attempt was recomputed.
    pub steps: u64,
    /// Claims of money whose amount was recomputed.
    pub claims: u64,
    /// Epochs whose seed was published.
    pub epochs: u64,
    /// Epochs that were opened.
    pub opened: u64,
    /// Distinct draw secrets under which they were opened.
    pub secrets: u64,
    /// Cycles whose seed was published.
    pub cycles: u64,
    /// Entries that had to hit by the recomputed trigger of their cycle.
    pub hits: u64,
    /// Receipts compared with their claims.
    pub receipts: u64,
    /// Valid signatures of receipts and heads.
    pub signatures: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The jackpot, as the export names it.
    pub jackpot: String,
    /// The ledger that the file was exported from.
    pub ledger_id: String,
    /// The first problems. Empty: everything that could be checked is right.
    pub problems: Vec<Problem>,
    /// Number of problems that are not listed.
    pub unlisted: u64,
    /// How much was checked.
    pub counts: Counts,
    /// What could not be checked, and why.
    pub unchecked: Vec<String>,
    /// Epochs and cycles that have ended and whose seed is not published, though nothing needs it any more.
    pub lacking: Vec<Place>,
    /// Meters of each tier at the end, in minor units, or in millionths of them (`*_micro`).
    pub balances: BTreeMap<String, Vec<(&'static str, i128)>>,
}

impl Report {
    /// Adds a problem.
    pub(super) fn wrong(&mut self, place: Place, what: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                place,
                what: what.into(),
            });
        } else {
            self.unlisted += 1;
        }
    }

    /// Adds something that could not be checked.
    pub(super) fn unchecked(&mut self, what: impl Into<String>) {
        self.unchecked.push(what.into());
    }

    /// Whether no problem was found.
    pub fn is_right(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { jackpot, counts, .. } = self;
        writeln!(f, "jackpot {jackpot} of ledger {}", self.ledger_id)?;
        writeln!(f, "\nchecked")?;
        writeln!(f, "  chain       {} events", counts.events)?;
        writeln!(
            f,
            "  books       {} events replayed: {} contributions, {} claims of money, every meter",
            counts.replayed, counts.entries, counts.claims
        )?;
        writeln!(
            f,
            "  draws       {} entries and {} redraws, of epochs with a published seed: {}",
            counts.draws, counts.steps, counts.epochs
        )?;
        writeln!(
            f,
            "  epochs      {} under {} secrets: numbers, nonces and histories",
            counts.opened, counts.secrets
        )?;
        if counts.cycles > 0 {
            writeln!(
                f,
                "  cycles      {} with a published seed: triggers, and {} entries that hit there",
                counts.cycles, counts.hits
            )?;
        }
        writeln!(f, "  receipts    {} against their claims", counts.receipts)?;
        writeln!(f, "  signatures  {} of receipts and heads", counts.signatures)?;
        section(f, "not checked", &self.unchecked)?;
        writeln!(f, "\nbalances at the end, minor units (*_micro: millionths)")?;
        for (tier, meters) in &self.balances {
            let meters = meters.iter().map(|(name, value)| format!("{name} {value}"));
            writeln!(f, "  {tier}: {}", meters.collect::<Vec<_>>().join(", "))?;
        }
        let problems = self.problems.iter();
        let problems = problems.map(|p| format!("{} of jackpot {jackpot}: {}", p.place, p.what));
        section(f, "wrong", &problems.collect::<Vec<_>>())?;
        if self.unlisted > 0 {
            writeln!(f, "  and {} more", self.unlisted)?;
        }
        let lacking = self.lacking.iter();
        let lacking = lacking.map(|place| format!("{place} of jackpot {jackpot} has ended, and its seed is not there"));
        section(f, "missing", &lacking.collect::<Vec<_>>())?;
        let (count, seeds) = (self.problems.len() as u64 + self.unlisted, self.lacking.len());
        match (count, seeds) {
            (0, 0) => writeln!(f, "\nall that could be checked is right"),
            (0, _) => writeln!(
                f,
                "\n{seeds} seeds are missing: nothing else is wrong, but nobody can check what they decided"
            ),
            _ => writeln!(f, "\n{count} problems"),
        }
    }
}

pub(super) fn section(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
}
