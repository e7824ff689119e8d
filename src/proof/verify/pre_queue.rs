//! Checks the list of visitors who joined a room before its opening, and their random order. Anyone with the file can
//! recompute the order, and compare it with who was let in when.
//!
//! For an auditor who kept the commitment that was shown before the opening, it proves two things. The seed was fixed
//! before anyone joined, and the order follows from the seed and the tickets alone (`docs/decisions/0016-rooms.md`).

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::line;
use super::report::section;
use super::{Place, Problem, Trusted, VerifyError};
use crate::room::pre_queue_line::{FORMAT, Heading, Join};
use crate::room::ticket::{OrderSeed, Ticket};

/// Fields of the first line that every format has.
#[derive(Deserialize)]
struct Formatted {
    format: u32,
}

/// A place in the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Position from 1, which is let in first.
    pub position: u64,
    /// The ticket at this position.
    pub ticket: Ticket,
    /// The number with which the ticket joined.
    pub join: u64,
}

/// The result of a check.
#[derive(Debug)]
pub struct PreQueue {
    /// The heading of the list.
    pub heading: Heading,
    /// The first problem found.
    pub problem: Option<Problem>,
    /// Whether the commitment was compared with one that the auditor kept.
    pub kept: bool,
    /// Whether the SHA-256 of the list was compared with the published one.
    pub published: bool,
    /// The order; empty if there is a problem.
    pub order: Vec<Placed>,
}

/// Output format of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderFormat {
    /// With a header line.
    Csv,
    /// One JSON object a line.
    Ndjson,
}

/// Checks a list whose first line was already read. It stops at the first problem. Memory grows with the length of the
/// list.
pub(super) fn verify(first: &str, mut reader: impl BufRead, trusted: &Trusted) -> Result<PreQueue, VerifyError> {
    let unread = |error: serde_json::Error| VerifyError::NoExport(error.to_string());
    let Formatted { format } = serde_json::from_str(first).map_err(unread)?;
    if format != FORMAT {
        return Err(VerifyError::Format(format, FORMAT));
    }
    let heading: Heading = serde_json::from_str(first).map_err(unread)?;
    let mut list = List::default();
    let problem = match seed(&heading, trusted) {
        Ok(seed) => list.read(&heading, &seed, &mut reader)?.err(),
        Err(what) => Some(wrong(1, what)),
    };
    let mut order = if problem.is_none() { list.order } else { Vec::new() };
    // Ties are ordered by ticket, as in Redis.
    order.sort_unstable_by_key(|(order, join)| (*order, join.ticket));
    let placed = (1..)
        .zip(order)
        .map(|(position, (_, Join { join, ticket }))| Placed { position, ticket, join });
    Ok(PreQueue {
        order: placed.collect(),
        kept: trusted.commitment.is_some(),
        published: trusted.sha256.is_some(),
        problem,
        heading,
    })
}

fn wrong(line: u64, what: impl Into<String>) -> Problem {
    Problem {
        place: Place::Line(line),
        what: what.into(),
    }
}

/// The seed, if it matches the commitment and the list matches the published one.
fn seed(heading: &Heading, trusted: &Trusted) -> Result<OrderSeed, String> {
    let seed = OrderSeed::from_hex(&heading.seed).ok_or("its seed is not 32 bytes in hexadecimal")?;
    if seed.commitment() != heading.commitment {
        return Err("its seed is not the one of its commitment: the SHA-256 of the seed is another one".to_owned());
    }
    if trusted
        .commitment
        .as_ref()
        .is_some_and(|kept| *kept != heading.commitment)
    {
        return Err("its commitment is not the one that you kept: the seed was changed".to_owned());
    }
    if trusted
        .sha256
        .as_ref()
        .is_some_and(|published| *published != heading.sha256)
    {
        return Err("its SHA-256 is not the one that was published: the list was changed".to_owned());
    }
    Ok(seed)
}

/// The list up to the last line read.
#[derive(Default)]
struct List {
    hash: Sha256,
    /// Join number by ticket.
    joins: HashMap<Ticket, u64>,
    /// Each join with the order value that the seed gives it.
    order: Vec<(i64, Join)>,
}

impl List {
    fn read(
        &mut self,
        heading: &Heading,
        seed: &OrderSeed,
        reader: &mut impl BufRead,
    ) -> io::Result<Result<(), Problem>> {
        let (mut text, mut number) = (String::new(), 1);
        while line::read(reader, &mut text)? {
            number += 1;
            if let Err(what) = self.take(heading, seed, &text) {
                return Ok(Err(wrong(number, what)));
            }
        }
        Ok(self.end(heading).map_err(|what| wrong(number, what)))
    }

    fn take(&mut self, heading: &Heading, seed: &OrderSeed, text: &str) -> Result<(), String> {
        let join: Join = serde_json::from_str(text).map_err(|error| format!("it can't be read: {error}"))?;
        let (next, joined) = (self.count() + 1, heading.joined);
        if next > joined {
            return Err(format!("it is one more than the {joined} that the first line states"));
        }
        if join.join != next {
            return Err(format!("its number is {}, the next one is {next}", join.join));
        }
        if let Some(before) = self.joins.insert(join.ticket, next) {
            return Err(format!("its ticket is that of join {before}"));
        }
        self.hash.update(format!("{}\n", join.ticket));
        self.order.push((seed.order(join.ticket), join));
        Ok(())
    }

    fn end(&mut self, heading: &Heading) -> Result<(), String> {
        let (count, joined) = (self.count(), heading.joined);
        if count != joined {
            return Err(format!(
                "the list ends after it with {count} joins; the first line states {joined}"
            ));
        }
        let sha256 = hex::encode(self.hash.finalize_reset());
        if sha256 != heading.sha256 {
            let stated = &heading.sha256;
            return Err(format!(
                "the list ends here with the SHA-256 {sha256}, the first line states {stated}"
            ));
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        self.order.len() as u64
    }
}

impl PreQueue {
    /// Whether no problem was found.
    pub fn is_right(&self) -> bool {
        self.problem.is_none()
    }

    /// Writes the order, from the first position.
    pub fn write_order(&self, out: &mut impl Write, format: OrderFormat) -> io::Result<()> {
        if format == OrderFormat::Csv {
            out.write_all(b"position,ticket,join\n")?;
        }
        for placed in &self.order {
            match format {
                OrderFormat::Csv => writeln!(out, "{},{},{}", placed.position, placed.ticket, placed.join)?,
                OrderFormat::Ndjson => writeln!(out, "{}", serde_json::to_string(placed)?)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for PreQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heading {
            room_id,
            opens_at,
            nonce,
            commitment,
            joined,
            sha256,
            ..
        } = &self.heading;
        let opening = opens_at.as_deref().unwrap_or("its opening");
        writeln!(f, "room {room_id}, joins before {opening}")?;
        if let Some(problem) = &self.problem {
            let problem = format!("{} of room {room_id}: {}", problem.place, problem.what);
            section(f, "wrong", &[problem])?;
            return writeln!(f, "\nnothing after it was checked");
        }
        let kept = if self.kept { ", the one that was kept" } else { "" };
        writeln!(f, "\nchecked")?;
        writeln!(
            f,
            "  seed        the one of commitment {commitment}{kept}; nonce {nonce}"
        )?;
        let published = if self.published {
            ", the one that was published"
        } else {
            ""
        };
        writeln!(
            f,
            "  list        {joined} joins, none missing, no ticket twice; SHA-256 {sha256}{published}"
        )?;
        writeln!(f, "  order       of {joined} tickets, from the seed")?;
        let commitment =
            "whether this commitment was there before the opening: give the one that you kept with --commitment";
        let list =
            "whether this list was published: give the SHA-256 of the room's status, or of the ledger, with --sha256";
        let open = [(self.kept, commitment), (self.published, list)];
        let open = open
            .iter()
            .filter(|(done, _)| !done)
            .map(|(_, what)| (*what).to_owned());
        let open: Vec<_> = open.collect();
        if !open.is_empty() {
            section(f, "not checked", &open)?;
        }
        writeln!(f, "\nall that could be checked is right")
    }
}
