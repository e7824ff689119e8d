//! The idempotency record of an entry in Redis, as `lua/jackpot/record.lua` writes it. Pure.

use std::fmt::Write;

use super::added::Added;
use super::call::parse_places;
use crate::ids::{ClientSeed, Id};
use crate::money::Minor;
pub use crate::unreadable::Unreadable;

/// A parsed record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Number of the entry within the jackpot, from 1.
    pub sequence: u64,
    /// Epoch in which it was drawn.
    pub epoch: u64,
    /// Version of the definition under which it was drawn.
    pub version: u64,
    /// Fingerprint of player, stake and client seed ([`Sent::fingerprint`]).
    pub fingerprint: String,
    /// One for each tier, in that definition's order.
    pub contributions: Vec<Contributed>,
    pub state: State,
}

/// An entry's contribution to a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contributed {
    /// The pool right after it.
    pub pool: u64,
    /// Whole minor units by which the tier's contributions grew.
    pub amount: u64,
}

impl Contributed {
    /// `pool+amount`, the form in records and events.
    pub fn parse(text: &str) -> Option<Self> {
        let (pool, amount) = text.split_once('+')?;
        Some(Self {
            pool: pool.parse().ok()?,
            amount: amount.parse().ok()?,
        })
    }
}

/// The state of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Drew nothing at once.
    Lost,
    /// The next attempt must be made.
    Pending {
        /// Ranks that refused it, in the order of refusal.
        refusals: Vec<Refusal>,
        /// When it was taken, in ms of Redis' clock.
        entered_ms: i64,
        /// The request, so that any instance can finish the entry.
        sent: Sent,
    },
    /// Drew nothing in the end, or ran out of redraws.
    Ended {
        /// Ranks that refused it.
        refusals: Vec<Refusal>,
    },
    /// Won a unit of a coupon.
    Issued {
        /// Ranks that refused it before.
        refusals: Vec<Refusal>,
        unit: CouponUnit,
    },
    /// Won money.
    Paid {
        /// Ranks that refused it before.
        refusals: Vec<Refusal>,
        payout: Payout,
    },
}

impl State {
    /// Whether the entry won something.
    #[must_use]
    pub fn is_won(&self) -> bool {
        matches!(self, Self::Paid { .. } | Self::Issued { .. })
    }
}

/// Money that an entry won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    /// The rank.
    pub rank: u32,
    /// The tier.
    pub tier: Id,
    /// Minor units.
    pub amount: u64,
    /// Number of the paid claim within the jackpot, from 1.
    pub claim_order: u64,
    /// The history in which it was paid. It is part of the payout's id, whatever is restored later.
    pub history: String,
}

/// A unit of a coupon that an entry won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponUnit {
    /// The rank.
    pub rank: u32,
    /// The coupon.
    pub coupon_id: Id,
    /// Number of the issue within the coupon, from 1.
    pub sequence: u64,
    pub code: String,
}

/// A rank that refused an entry, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    pub rank: u32,
    pub reason: Reason,
}

/// Why a drawn prize was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The pool held too little.
    Retry,
    /// The coupon was out of stock.
    OutOfStock,
    /// The player had reached the coupon's limit.
    AlreadyIssued,
    /// The coupon was not open.
    NotOpen,
}

impl Reason {
    const ALL: [Self; 4] = [Self::Retry, Self::OutOfStock, Self::AlreadyIssued, Self::NotOpen];

    /// Its name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::OutOfStock => "out-of-stock",
            Self::AlreadyIssued => "already-issued",
            Self::NotOpen => "not-open",
        }
    }

    /// The inverse of [`Reason::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    /// Its letter in records.
    fn letter(self) -> char {
        match self {
            Self::Retry => 'r',
            Self::OutOfStock => 'o',
            Self::AlreadyIssued => 'a',
            Self::NotOpen => 'n',
        }
    }
}

/// A game back end's request for an entry, without its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The player.
    pub player: Id,
    /// The stake.
    pub stake: Minor,
    /// The player's own input of the draw.
    pub client_seed: Option<ClientSeed>,
}

impl Sent {
    /// `player stake client_seed`, `*` for no seed: the form in records and event blocks.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text);
        text
    }

    /// Appends [`Sent::to_text`] to `text`.
    pub fn write_text(&self, text: &mut String) {
        let seed = self.client_seed.as_ref().map_or("*", ClientSeed::as_str);
        write!(text, "{} {} {seed}", self.player, self.stake).expect("a string takes all that is written");
    }

    /// The inverse of [`Sent::to_text`].
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let (player, stake, seed) = (parts.next()?, parts.next()?, parts.next()?);
        let client_seed = if seed == "*" {
            None
        } else {
            Some(ClientSeed::parse(seed).ok()?)
        };
        let stake = Minor::try_from(stake.parse::<u64>().ok()?).ok()?;
        parts.next().is_none().then_some(())?;
        Some(Self {
            player: Id::parse(player).ok()?,
            stake,
            client_seed,
        })
    }

    /// Ten characters (60 bits) of a SHA-256 over the request. It reveals the same id with other content.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.to_text())
    }
}

/// [`Sent::fingerprint`] of a text that [`Sent::to_text`] made.
pub fn fingerprint(text: &str) -> String {
    use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(text);
    let mut text = BASE64_URL_SAFE_NO_PAD.encode(&digest[..8]);
    text.truncate(10);
    text
}

impl Record {
    /// Parses a record from a script's reply.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let parsed = if text.starts_with(':') {
            parse_in_run(text)
        } else {
            parse(text)
        };
        parsed.ok_or_else(|| Unreadable::of(text))
    }

    /// The record alone, for [`Record::parse`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let contributions = self.contributions.iter().map(|c| format!("{}+{}", c.pool, c.amount));
        let contributions = contributions.collect::<Vec<_>>().join(",");
        let head = format!(
            "{} {}.{} {} {contributions}",
            self.sequence, self.epoch, self.version, self.fingerprint
        );
        match &self.state {
            State::Lost => head,
            State::Pending {
                refusals,
                entered_ms,
                sent,
            } => {
                format!("{head} p {} {entered_ms} {}", refusals_text(refusals), sent.to_text())
            }
            State::Ended { refusals } => format!("{head} n {}", refusals_text(refusals)),
            State::Issued { refusals, unit } => {
                let CouponUnit {
                    rank,
                    coupon_id,
                    sequence,
                    code,
                } = unit;
                format!(
                    "{head} c {} {rank} {coupon_id} {sequence} {code}",
                    refusals_text(refusals)
                )
            }
            State::Paid { refusals, payout } => {
                let Payout {
                    rank,
                    tier,
                    amount,
                    claim_order,
                    history,
                } = payout;
                format!(
                    "{head} w {} {rank} {tier} {amount} {claim_order} {history}",
                    refusals_text(refusals)
                )
            }
        }
    }

    /// Ranks that refused the entry until now.
    #[must_use]
    pub fn refusals(&self) -> &[Refusal] {
        match &self.state {
            State::Lost => &[],
            State::Pending { refusals, .. }
            | State::Ended { refusals }
            | State::Issued { refusals, .. }
            | State::Paid { refusals, .. } => refusals,
        }
    }
}

fn parse(text: &str) -> Option<Record> {
    let mut parts = text.split(' ');
    let sequence = parts.next()?.parse().ok()?;
    let (epoch, version) = parts.next()?.split_once('.')?;
    let fingerprint = parts.next()?.to_owned();
    let contributions = parts
        .next()?
        .split(',')
        .map(Contributed::parse)
        .collect::<Option<_>>()?;
    let state = match parts.next() {
        None => State::Lost,
        Some("p") => {
            let refusals = parse_refusals(parts.next()?)?;
            let entered_ms = parts.next()?.parse().ok()?;
            let sent = Sent::parse(&parts.by_ref().collect::<Vec<_>>().join(" "))?;
            State::Pending {
                refusals,
                entered_ms,
                sent,
            }
        }
        Some("n") => State::Ended {
            refusals: parse_refusals(parts.next()?)?,
        },
        Some("c") => State::Issued {
            refusals: parse_refusals(parts.next()?)?,
            unit: CouponUnit {
                rank: parts.next()?.parse().ok()?,
                coupon_id: Id::parse(parts.next()?).ok()?,
                sequence: parts.next()?.parse().ok()?,
                code: parts.next()?.to_owned(),
            },
        },
        Some("w") => {
            let refusals = parse_refusals(parts.next()?)?;
            let rank = parts.next()?.parse().ok()?;
            let tier = Id::parse(parts.next()?).ok()?;
            let amount = parts.next()?.parse().ok()?;
            let claim_order = parts.next()?.parse().ok()?;
            let history = parts.next()?.to_owned();
            State::Paid {
                refusals,
                payout: Payout {
                    rank,
                    tier,
                    amount,
                    claim_order,
                    history,
                },
            }
        }
        Some(_) => return None,
    };
    parts.next().is_none().then_some(())?;
    Some(Record {
        sequence,
        epoch: epoch.parse().ok()?,
        version: version.parse().ok()?,
        fingerprint,
        contributions,
        state,
    })
}

/// The record of an entry that was taken in a run: `:call place fingerprint`, one space, and the record of its call,
/// `first|epoch.version|skipped|stakes|amounts|runs`. `stakes` is empty when all entries add the same.
fn parse_in_run(text: &str) -> Option<Record> {
    let mut parts = text.strip_prefix(':')?.splitn(4, ' ').skip(1);
    let (place, fingerprint, call) = (parts.next()?, parts.next()?, parts.next()?);
    let parts = call.split('|').collect::<Vec<_>>();
    let [first, stamp, skipped, stakes, amounts, runs] = parts[..] else {
        return None;
    };
    let (epoch, version) = stamp.split_once('.')?;
    let place = place.parse::<usize>().ok()?;
    let skipped = parse_places(skipped)?;
    let taken = (1..=place).filter(|place| skipped.binary_search(place).is_err());
    let taken = taken.collect::<Vec<_>>();
    if taken.last() != Some(&place) {
        return None;
    }
    let stakes = parse_stakes(stakes)?;
    let stake = |place: &usize| {
        if stakes.is_empty() {
            Some(Minor::ZERO)
        } else {
            stakes.get(place - 1).copied()
        }
    };
    let stakes_taken = taken.iter().map(stake).collect::<Option<Vec<_>>>()?;
    let added = Added::parse(amounts, None, runs_up_to(runs, taken.len())?).ok()?;
    let added = if stakes.is_empty() {
        added.for_every_stake()?
    } else {
        added
    };
    let mut contributions = added.contributions(stakes_taken.into_iter()).ok()?;
    Some(Record {
        sequence: first.parse::<u64>().ok()?.checked_add(taken.len() as u64 - 1)?,
        epoch: epoch.parse().ok()?,
        version: version.parse().ok()?,
        fingerprint: fingerprint.to_owned(),
        contributions: contributions.pop()?,
        state: State::Lost,
    })
}

/// `100,200,100`, or nothing.
fn parse_stakes(text: &str) -> Option<Vec<Minor>> {
    let stake = |text: &str| Minor::try_from(text.parse::<u64>().ok()?).ok();
    text.split_terminator(',').map(stake).collect()
}

/// The runs that begin at this index or earlier.
fn runs_up_to(runs: &str, index: usize) -> Option<&str> {
    let mut end = 0;
    for run in runs.split_inclusive(';') {
        if run.split_once(' ')?.0.parse::<usize>().ok()? > index {
            break;
        }
        end += run.len();
    }
    Some(&runs[..end])
}

fn parse_refusals(text: &str) -> Option<Vec<Refusal>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let one = |part: &str| {
        let (rank, letter) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let reason = Reason::ALL
            .into_iter()
            .find(|reason| letter == reason.letter().to_string())?;
        let rank = rank.parse().ok()?;
        Some(Refusal { rank, reason })
    };
    text.split(',').map(one).collect()
}

fn refusals_text(refusals: &[Refusal]) -> String {
    if refusals.is_empty() {
        return "-".to_owned();
    }
    refusals
        .iter()
        .map(|r| format!("{}{}", r.rank, r.reason.letter()))
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests;
