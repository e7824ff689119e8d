//! Checks an exported ledger offline. It recomputes the hash chain, the books, the draws and the receipts of a jackpot
//! from the export alone. It also runs the ledger's own books over each event. For a room, it checks the order of the
//! pre-queue. Pure: no Redis, no SQL, no settings.
//!
//! | file | what |
//! | --- | --- |
//! | `line` | reads a line of a file, with a limit |
//! | `chain` | the number of each event, and its hash over the exact bytes |
//! | `replay`, `tiers` | contributions, claims and meters, recomputed |
//! | `once` | what never repeats: histories, nonces and numbers of epochs |
//! | `draws` | what each attempt drew, recomputed from the published seeds |
//! | `cycles` | which entry reaches a must-hit trigger, recomputed from the published seeds |
//! | `receipts` | receipts against their claims, and the signatures |
//! | [`pre_queue`] | the order of a room before its opening, recomputed |
//! | `report` | what was found, what was checked, what could not be checked |

mod chain;
mod cycles;
mod draws;
mod line;
mod once;
pub mod pre_queue;
mod receipts;
mod replay;
mod report;
mod tiers;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use jackpot_core::clock::rfc3339;
use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use jackpot_core::receipt::Head;
use jackpot_core::signing::Jwks;
use serde::Deserialize;
use thiserror::Error;

use crate::jackpot::ledger::books::Books;
use crate::jackpot::ledger::event::{Event, Kind};
use crate::jackpot::ledger::parts::first_payout;
use crate::jackpot::ledger::report::compare;
use crate::jackpot::ledger::sides;
use crate::proof::format::{CycleLine, EpochLine, EventLine, FORMAT, Line};
use crate::room::pre_queue_line;

use chain::Chain;
use draws::Draws;
pub use line::MAX_LINE;
pub use pre_queue::PreQueue;
use receipts::Receipts;
use replay::{Broken, Replay};
pub use report::{Counts, MAX_PROBLEMS, Place, Problem, Report};

/// What the auditor supplies.
#[derive(Debug, Clone, Default)]
pub struct Trusted {
    /// Public keys from another source. `None`: the keys in the export are used, which proves less.
    pub keys: Option<Jwks>,
    /// Heads that the auditor kept earlier.
    pub heads: Vec<Head>,
    /// The room's commitment, kept before its opening.
    pub commitment: Option<String>,
    /// The SHA-256 of the pre-queue list, as published after the opening.
    pub sha256: Option<String>,
}

/// The file is not an export, or can't be read. This says nothing about its content.
#[derive(Debug, Error)]
pub enum VerifyError {
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file does not begin like an export.
    #[error("the file is neither the ledger of a jackpot nor the pre-queue of a room: {0}")]
    NoExport(String),
    /// A later version wrote the file.
    #[error("the file has format {0}, this version reads format {1}")]
    Format(u32, u32),
}

/// What kind of file it was, and what was found in it.
#[derive(Debug)]
pub enum Verified {
    /// The ledger of a jackpot.
    Ledger(Box<Report>),
    /// The pre-queue of a room.
    PreQueue(Box<PreQueue>),
}

/// The kind of the file, from its first line.
#[derive(Deserialize)]
struct Kinded {
    kind: String,
}

/// Checks a file of either kind. The first line names the kind.
pub fn verify_any(mut reader: impl BufRead, trusted: Trusted) -> Result<Verified, VerifyError> {
    let mut first = String::new();
    line::first(&mut reader, &mut first)?;
    let kinded = serde_json::from_str::<Kinded>(&first);
    if kinded.is_ok_and(|first| first.kind == pre_queue_line::KIND) {
        return pre_queue::verify(&first, reader, &trusted).map(|list| Verified::PreQueue(Box::new(list)));
    }
    rest(&first, reader, trusted).map(|report| Verified::Ledger(Box::new(report)))
}

/// Checks an export from its first line to its last, in one pass.
pub fn verify(mut reader: impl BufRead, trusted: Trusted) -> Result<Report, VerifyError> {
    let mut first = String::new();
    line::first(&mut reader, &mut first)?;
    rest(&first, reader, trusted)
}

fn rest(first: &str, mut reader: impl BufRead, trusted: Trusted) -> Result<Report, VerifyError> {
    let mut verifier = Verifier::begin(first, trusted)?;
    let mut text = String::new();
    while line::read(&mut reader, &mut text)? {
        verifier.line(&text);
    }
    Ok(verifier.finish())
}

/// A verification in progress. It takes the lines in order.
pub struct Verifier {
    jackpot: Id,
    report: Report,
    line: u64,
    epochs: BTreeMap<u64, EpochLine>,
    chain: Chain,
    /// `None` after an event that can't be replayed.
    replay: Option<Replay>,
    /// `None` after an event that is out of sequence.
    books: Option<Books>,
    receipts: Receipts,
    head_seen: bool,
}

impl Verifier {
    /// Starts with the first line.
    pub fn begin(first: &str, trusted: Trusted) -> Result<Self, VerifyError> {
        let heading = match serde_json::from_str(first) {
            Ok(Line::JackpotLedger(heading)) => heading,
            Ok(_) => return Err(VerifyError::NoExport("the first line is another one".to_owned())),
            Err(error) => return Err(VerifyError::NoExport(error.to_string())),
        };
        if heading.format != FORMAT {
            return Err(VerifyError::Format(heading.format, FORMAT));
        }
        let jackpot = heading.jackpot_id;
        let mut report = Report {
            jackpot: jackpot.to_string(),
            ledger_id: heading.ledger_id,
            ..Report::default()
        };
        if trusted.keys.is_none() {
            report.unchecked(
                "whose keys these are: they are taken from the export itself; give those you trust with --key",
            );
        }
        let receipts = Receipts::new(jackpot.clone(), trusted.keys.unwrap_or(heading.keys));
        let kept = trusted.heads.iter();
        let kept = kept.filter_map(|head| receipts.kept_head(head, &mut report)).collect();
        Ok(Self {
            chain: Chain::new(&jackpot, kept),
            replay: Some(Replay::new(jackpot.clone(), Draws::new())),
            books: Some(Books::default()),
            epochs: BTreeMap::new(),
            line: 1,
            head_seen: false,
            receipts,
            report,
            jackpot,
        })
    }

    /// Checks the next line.
    pub fn line(&mut self, text: &str) {
        self.line += 1;
        let place = Place::Line(self.line);
        if self.head_seen {
            self.report
                .wrong(place, "it comes after the head, which ends an export");
            return;
        }
        match serde_json::from_str(text) {
            Ok(Line::Epoch(epoch)) => self.epoch(epoch),
            Ok(Line::Cycle(cycle)) => self.cycle(cycle),
            Ok(Line::Event(event)) => self.event(&event),
            Ok(Line::Receipt(receipt)) => {
                let follows = self.replay.is_some();
                self.receipts.receipt(&receipt, follows, &mut self.report);
            }
            Ok(Line::Head(head)) => self.head(&head),
            Ok(Line::JackpotLedger(_)) => self.report.wrong(place, "another export begins here"),
            Err(error) => self.report.wrong(place, format!("it can't be read: {error}")),
        }
    }

    /// Finishes after the last line.
    pub fn finish(mut self) -> Report {
        let report = &mut self.report;
        if !self.head_seen {
            report.wrong(Place::Line(self.line), "the export is cut off here: it has no head");
        }
        self.receipts.end_of_event(report);
        self.chain.kept_was_passed(report);
        if let Some(replay) = &self.replay {
            compare_epochs(&self.epochs, replay, report);
            lacking_epochs(&self.epochs, replay, self.books.as_ref(), report);
            replay.cycles.finish(report);
            replay.draws.end(replay.open_epoch(), report);
            for (tier, meters) in replay.tiers().meters() {
                let meters = tiers::NAMES.iter().copied().zip(meters.iter().copied()).collect();
                report.balances.insert(tier.to_string(), meters);
            }
        }
        self.report
    }

    fn epoch(&mut self, epoch: EpochLine) {
        let report = &mut self.report;
        if let (Some(seed), Some(replay)) = (&epoch.seed, &mut self.replay) {
            replay
                .draws
                .publish(&self.jackpot, epoch.epoch, seed, &epoch.commitment, report);
        }
        if report.counts.events > 0 {
            report.wrong(Place::Line(self.line), "an epoch comes before the first event");
        }
        let number = epoch.epoch;
        if self.epochs.insert(number, epoch).is_some() {
            report.wrong(Place::Epoch(number), "it is there twice");
        }
    }

    fn cycle(&mut self, cycle: CycleLine) {
        let report = &mut self.report;
        if report.counts.events > 0 {
            report.wrong(Place::Line(self.line), "a cycle comes before the first event");
        }
        if let Some(replay) = &mut self.replay {
            replay.cycles.state(cycle, report);
        }
    }

    fn event(&mut self, line: &EventLine) {
        let n = line.n;
        self.receipts.end_of_event(&mut self.report);
        let follows = self.chain.next(n, &line.hash, &line.body, &mut self.report);
        if !follows {
            self.stop(n, "an event is missing or out of order");
        } else if self.replay.is_some()
            && let Err(Broken(what)) = self.replay(n, &line.body)
        {
            self.report.wrong(Place::Event(n), what);
            self.stop(n, "that event can't be replayed");
        }
    }

    fn replay(&mut self, n: u64, body: &str) -> Result<(), Broken> {
        let Some(replay) = &mut self.replay else {
            return Ok(());
        };
        let fields: EventFields =
            serde_json::from_str(body).map_err(|error| Broken(format!("its body can't be read: {error}")))?;
        if jackpot_core::chain::body(&fields) != body {
            self.report
                .wrong(Place::Event(n), "its body is not in the form of RFC 8785");
        }
        let event = Event::parse(&fields).map_err(|error| Broken(error.to_string()))?;
        if event.n != n {
            return Err(Broken(format!("its body is that of event {}", event.n)));
        }
        let paid = replay.apply(&event, &fields, &mut self.report)?;
        self.receipts.expect(paid, first_payout(&event.kind));
        if let (Some(books), Kind::Checkpoint(redis)) = (&self.books, &event.kind) {
            for fault in compare(&sides::of_checkpoint(redis), &sides::of_books(books)).faults() {
                self.report
                    .wrong(Place::Event(n), format!("at this checkpoint {fault}"));
            }
        }
        if let Some(Err(error)) = self.books.as_mut().map(|books| books.apply(&event)) {
            self.report
                .wrong(Place::Event(n), format!("it does not follow: {error}"));
            self.books = None;
        }
        Ok(())
    }

    /// Stops the replay. Hashes and signatures are still checked.
    fn stop(&mut self, n: u64, why: &str) {
        if self.replay.take().is_some() {
            self.report
                .unchecked(format!("books, draws and claims from event {n} on: {why}"));
        }
    }

    fn head(&mut self, head: &Head) {
        self.head_seen = true;
        self.receipts.end_of_event(&mut self.report);
        self.receipts.head(head, &Place::Head, &mut self.report);
        self.chain.end(head.n, &head.hash, &mut self.report);
    }
}

/// Names the closed epochs without a seed. An epoch that a pending entry needs is open until the entry has its outcome.
fn lacking_epochs(stated: &BTreeMap<u64, EpochLine>, replay: &Replay, books: Option<&Books>, report: &mut Report) {
    let pending = books.iter().flat_map(|books| books.pending.values());
    let needed: BTreeSet<_> = pending.map(|pending| pending.epoch).collect();
    for (epoch, (_, _, closed_ms)) in &replay.epochs {
        let is_lacking = stated.get(epoch).is_some_and(|line| line.seed.is_none());
        if is_lacking && closed_ms.is_some() && !needed.contains(epoch) {
            report.lacking.push(Place::Epoch(*epoch));
        }
    }
}

/// Compares the epochs of the export with the epochs that the events opened and closed.
fn compare_epochs(stated: &BTreeMap<u64, EpochLine>, replay: &Replay, report: &mut Report) {
    let secrets = replay.epochs.values().map(|(opening, ..)| &opening.secret_id);
    report.counts.secrets = secrets.collect::<BTreeSet<_>>().len() as u64;
    report.counts.opened = replay.epochs.len() as u64;
    for (epoch, (opening, opened_ms, closed_ms)) in &replay.epochs {
        let Some(line) = stated.get(epoch) else {
            report.wrong(
                Place::Epoch(*epoch),
                "an event opens it, and the export does not state it",
            );
            continue;
        };
        let times = (rfc3339(*opened_ms), closed_ms.map(rfc3339));
        let stated = (&line.commitment, &line.nonce, &line.secret_id);
        let opened_with = (&opening.commitment, &opening.nonce, &opening.secret_id);
        if stated != opened_with || (&line.opened_at, &line.closed_at) != (&times.0, &times.1) {
            let what =
                "its commitment, nonce, secret id or times are not those of the events that opened and closed it";
            report.wrong(Place::Epoch(*epoch), what);
        }
    }
    for epoch in stated.keys().filter(|epoch| !replay.epochs.contains_key(epoch)) {
        report.wrong(Place::Epoch(*epoch), "no event opens it");
    }
}
