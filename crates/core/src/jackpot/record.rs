//! The idempotency record of an entry in Redis. The parts of `lua/jackpot` that read and write it are made from these
//! declarations. Pure.

use std::fmt::Write;

use utoipa::ToSchema;

use super::added::{Added, Adds, AmountRow, Amounts, OfStake, Run};
use super::ranks::Ranks;
use crate::ids::{ClientSeed, Id, PersonId};
use crate::money::Minor;
use crate::names;
pub use crate::unreadable::Unreadable;
use crate::wire::{Field, FieldShape, Item, Stands, WordPart, Words};
use crate::{record, words};

record! {
    /// The idempotency record of an entry, in one of the hashes `seen:a` and `seen:b` by its id.
    pub struct Record as "entry" {
        /// Number of the entry within the jackpot, from 1.
        pub sequence: u64,
        /// Epoch in which it was drawn.
        pub epoch: u64,
        /// Version of the definition under which it was drawn.
        pub version: u64,
        /// Fingerprint of what was sent: player, stake, client seed, source and ranks.
        pub fingerprint: String,
        /// One for each tier, in that definition's order.
        pub contributions: Vec<Contributed>,
    }
    /// The state of an entry.
    pub state: pub enum State {
        /// The next attempt must be made.
        "p" Pending {
            /// Ranks that refused it, in the order of refusal.
            refusals: Vec<Refusal>,
            /// When it was taken, in ms of Redis' clock.
            entered_ms: i64,
            /// The request, so that any instance can finish the entry.
            sent: Sent,
        }
        /// Drew nothing in the end, or ran out of redraws.
        "n" Ended {
            /// Ranks that refused it.
            refusals: Vec<Refusal>,
        }
        /// Won a unit of a coupon.
        "c" Issued {
            /// Ranks that refused it before.
            refusals: Vec<Refusal>,
            /// The unit.
            unit: CouponUnit,
        }
        /// Won money.
        "w" Paid {
            /// Ranks that refused it before.
            refusals: Vec<Refusal>,
            /// The money.
            payout: Payout,
        }
        /// Hit a pool by its rule; its odds were not drawn.
        "h" MustHit {
            /// The hit.
            hit: Hit,
        }
    } else Lost: "Drew nothing at once."
}

words! {
    /// An entry's contribution to a tier.
    #[derive(Copy)]
    pub struct Contributed as "contributed" by '+' list ',' {
        /// The pool right after it.
        pub pool: u64,
        /// Whole minor units by which the tier's contributions grew.
        pub amount: u64,
    }
}

words! {
    /// Money that an entry won.
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
}

words! {
    /// A hit by the rule of a tier.
    pub struct Hit {
        /// The tier.
        pub tier: Id,
        /// Minor units.
        pub amount: u64,
        /// Number of the paid claim within the jackpot, from 1.
        pub claim_order: u64,
        /// The history in which it was paid.
        pub history: String,
        /// The cycle that it ended.
        pub cycle: u64,
        /// What was due.
        pub by: HitBy,
        /// The amount in minor units, or the second since 1970.
        pub trigger: u64,
    }
}

words! {
    /// A unit of a coupon that an entry won.
    pub struct CouponUnit {
        /// The rank.
        pub rank: u32,
        /// The coupon.
        pub coupon_id: Id,
        /// Number of the issue within the coupon, from 1.
        pub sequence: u64,
        /// Its code.
        pub code: String,
    }
}

words! {
    /// In place of the record of an entry that was taken in a run. It is short, because it shares the record of its call.
    pub struct InRun as "in_run" by ' ' {
        /// The field of the call's record in the same hash. No client can send it as an id.
        pub call: CallField,
        /// The entry's place in the call, from 1.
        pub place: u64,
        /// As in the record of an entry.
        pub fingerprint: String,
    }
}

/// `:` and the name of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallField(String);

impl CallField {
    /// The field of the call with this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(format!(":{name}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Field for CallField {
    const TYPE: &'static str = "`:` and the name of a call";
    const PATTERN: &'static str = ":%S+";

    fn read(text: &str) -> Option<Self> {
        text.starts_with(':').then(|| Self(text.to_owned()))
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

words! {
    /// The record that the entries of a call share, if they were taken in runs.
    pub struct CallRecord as "call_record" by '|' {
        /// Sequence of the first entry that the call took.
        pub first: u64,
        /// Epoch in which they were drawn.
        pub epoch: u64,
        /// Version of the definition under which they were drawn.
        pub version: u64,
        /// Places that the call did not take, ascending.
        pub skip: Vec<u64>,
        /// What each entry adds: the `stake` of its row in `amounts`. None when all add the same.
        pub stakes: Vec<OfStake>,
        /// What an entry adds, by stake.
        pub amounts: Vec<AmountRow>,
        /// Where runs begin.
        pub runs: Vec<Run>,
    }
}

impl State {
    /// Whether the entry won something.
    #[must_use]
    pub fn is_won(&self) -> bool {
        matches!(self, Self::Paid { .. } | Self::MustHit { .. } | Self::Issued { .. })
    }
}

impl State {
    /// The money that the entry won, of rank 0 for a hit.
    #[must_use]
    pub fn payout(&self) -> Option<Payout> {
        match self {
            Self::Paid { payout, .. } => Some(payout.clone()),
            Self::MustHit { hit } => Some(Payout {
                rank: 0,
                tier: hit.tier.clone(),
                amount: hit.amount,
                claim_order: hit.claim_order,
                history: hit.history.clone(),
            }),
            _ => None,
        }
    }
}

names! {
    /// What was due when an entry hit.
    #[derive(ToSchema)]
    pub enum HitBy as "`amount` or `time`" {
        /// The pool's amount.
        Amount = "amount",
        /// The second.
        Time = "time",
    }
}

/// A rank that refused an entry, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    pub rank: u32,
    pub reason: Reason,
}

/// The rank, and the letter of the reason.
impl Field for Refusal {
    const TYPE: &'static str = "rank, then `r` retry, `o` out of stock, `a` already issued or `n` not open";
    const PATTERN: &'static str = "%d+[roan]";

    fn read(text: &str) -> Option<Self> {
        let (rank, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let mut all = Reason::ALL.into_iter();
        let reason = all.find(|reason| letter.chars().eq([reason.letter()]))?;
        let rank = u32::read(rank).filter(|_| !rank.is_empty())?;
        Some(Self { rank, reason })
    }

    fn write(&self, out: &mut String) {
        self.rank.write(out);
        out.push(self.reason.letter());
    }
}

impl Item for Refusal {
    const LIST: Stands = Stands::Between(',');
    const CAN_BE_NONE: bool = true;
    const LIST_TYPE: &'static str = "list with commas, `-` for none: rank, then `r` retry, `o` out of stock, `a` already \
                                     issued or `n` not open";
}

names! {
    /// Why a drawn prize was refused.
    pub enum Reason as "`retry`, `out-of-stock`, `already-issued` or `not-open`" {
        /// The pool held too little.
        Retry = "retry",
        /// The coupon was out of stock.
        OutOfStock = "out-of-stock",
        /// The player had reached the coupon's limit.
        AlreadyIssued = "already-issued",
        /// The coupon was not open.
        NotOpen = "not-open",
    }
}

impl Reason {
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
    pub player: PersonId,
    pub stake: Minor,
    /// The player's own input of the draw.
    pub client_seed: Option<ClientSeed>,
    /// The game, site or channel that it came from.
    pub source: Option<Id>,
    /// What the game of an external source drew; the service draws the others.
    pub ranks: Option<Ranks>,
}

/// The form of a request in records and event blocks.
pub(super) const SENT_TYPE: &str =
    "`player stake client_seed`, `*` for no seed; with a source ` source` after it; with an external draw ` ranks` too";

/// The last field of a record.
impl WordPart for Sent {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape {
            pattern: ".+",
            ..FieldShape::text(name, doc, SENT_TYPE)
        }]
    }

    fn take(words: &mut Words<'_>) -> Option<Self> {
        let (player, stake, seed) = (words.word()?, words.word()?, words.word()?);
        // Nothing stands for no source and no ranks: the text is then what it was before there were any.
        let source = if words.is_empty() {
            None
        } else {
            Some(words.take::<Id>()?)
        };
        let ranks = if words.is_empty() {
            None
        } else {
            Some(words.take::<Ranks>()?)
        };
        if !words.is_empty() {
            return None;
        }
        let client_seed = match seed {
            "*" => None,
            seed => Some(ClientSeed::parse(seed).ok()?),
        };
        Some(Self {
            player: PersonId::parse(player).ok()?,
            stake: Minor::read(stake)?,
            client_seed,
            source,
            ranks,
        })
    }

    fn put(&self, out: &mut String, by: char) {
        out.push(by);
        self.write_text(out);
    }
}

impl Sent {
    /// A request of this player with this stake, and nothing else.
    #[must_use]
    pub fn of(player: PersonId, stake: Minor) -> Self {
        Self {
            player,
            stake,
            client_seed: None,
            source: None,
            ranks: None,
        }
    }

    /// `player stake client_seed`, `*` for no seed, then source and ranks where there are any: the form in records and
    /// event blocks.
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
        if let Some(source) = &self.source {
            source.put(text, ' ');
        }
        if let Some(ranks) = &self.ranks {
            ranks.put(text, ' ');
        }
    }

    /// The id of its source.
    #[must_use]
    pub fn source_text(&self) -> Option<&str> {
        self.source.as_ref().map(Id::as_str)
    }

    /// The inverse of [`Sent::to_text`].
    pub fn parse(text: &str) -> Option<Self> {
        Words::new(text).take()
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
    /// Reads what scripts reply: a record, or the short one of an entry of a run, one space, and the record of its call.
    pub fn parse_whole(text: &str) -> Result<Self, Unreadable> {
        if !text.starts_with(':') {
            return Self::parse(text);
        }
        let in_run = text.rsplit_once(' ').and_then(|(own, call)| {
            let (own, call) = (InRun::read(own)?, CallRecord::read(call)?);
            call.entry(own)
        });
        in_run.ok_or_else(|| Unreadable::of(text))
    }

    /// Ranks that refused the entry until now.
    #[must_use]
    pub fn refusals(&self) -> &[Refusal] {
        match &self.state {
            State::Lost | State::MustHit { .. } => &[],
            State::Pending { refusals, .. }
            | State::Ended { refusals }
            | State::Issued { refusals, .. }
            | State::Paid { refusals, .. } => refusals,
        }
    }
}

impl CallRecord {
    /// The record of an entry that the call took in a run; `None` if it took no such entry.
    fn entry(self, own: InRun) -> Option<Record> {
        if !self.skip.is_sorted() {
            return None;
        }
        let taken = (1..=own.place).filter(|place| self.skip.binary_search(place).is_err());
        let taken = taken.collect::<Vec<_>>();
        if taken.last() != Some(&own.place) {
            return None;
        }
        let last = taken.len() as u64;
        let runs = self.runs.into_iter().take_while(|run| run.index <= last);
        let added = Added::new(vec![Amounts::of_rows(self.amounts)?], None, runs.collect());
        let adds = |place: &u64| {
            if self.stakes.is_empty() {
                return Some(Adds::Same);
            }
            Some(Adds::Row(self.stakes.get(usize::try_from(*place).ok()? - 1)?))
        };
        let adds = taken.iter().map(adds).collect::<Option<Vec<_>>>()?;
        let mut contributions = added.contributions(adds.into_iter()).ok()?;
        Some(Record {
            sequence: self.first.checked_add(last - 1)?,
            epoch: self.epoch,
            version: self.version,
            fingerprint: own.fingerprint,
            contributions: contributions.pop()?,
            state: State::Lost,
        })
    }
}

#[cfg(test)]
mod tests;
