//! The events of a jackpot's stream, typed.
//!
//! Every script appends one event in the call in which it has its effect (`append_<type>`). Fields are text. The
//! number `n` is dense from 1 and is the event's identity. The stream id `<sequence>-<n>` is metadata.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use jackpot_core::currency::Currency;
use jackpot_core::fields::EventFields;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::batch_record::BatchRecord;
use jackpot_core::jackpot::call::Call;
pub use jackpot_core::jackpot::call::Entered;
use jackpot_core::jackpot::cycle::{CycleChange, CycleChanges, HitRow};
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::leaving::{HeldRecord, Leaving, Took};
use jackpot_core::jackpot::record::Reason;
use jackpot_core::jackpot::reversal::{EarlyRow, Replaced, ReversalUse, ReversedTier};
use jackpot_core::jackpot::settlement::{Attempt, Ended, Hold, Standing, State, Step};
use jackpot_core::jackpot::transfer::{self, GivenRecord, Part};
use jackpot_core::wire::{Field, OrDash, Signed};
use jackpot_core::{record, words};

use super::books::Meters;
use super::carried::Carried;
use jackpot_api::jackpot::Status;
use jackpot_core::wire::declared::{EventPart, Given};
use jackpot_core::{event_fields, event_types};
use jackpot_kernel::ledger::events::{
    Envelope, Fields, Obeyed, Put, Rebuilt, StatusChange, Unreadable, Why, parse_held,
};
use jackpot_kernel::ledger::skipped::Skipped;

pub(crate) mod parse;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Number, dense from 1 in a jackpot.
    pub n: u64,
    /// When it happened, ms of Redis' clock.
    pub at_ms: i64,
    /// The history that it belongs to; each restore begins another one.
    pub history: String,
    /// Its changes of the meters.
    pub changes: Vec<MeterChange>,
    /// Version of the definition that came into force with it.
    pub applied: Option<u64>,
    /// The cycles that ended and began with it, in order.
    pub cycles: Vec<CycleChange>,
    pub kind: Kind,
}

/// A change of one meter of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterChange {
    pub tier: Id,
    pub meter: MeterName,
    /// Minor units, or millionths (`*_micro`).
    pub delta: i64,
}

/// The name of a meter. The names of our meters are not copied, because an event has several of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterName(Cow<'static, str>);

impl From<&str> for MeterName {
    fn from(name: &str) -> Self {
        Self(Meters::name(name).map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed))
    }
}

impl Deref for MeterName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MeterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Field for MeterName {
    const TYPE: &'static str = String::TYPE;
    const PATTERN: &'static str = String::PATTERN;

    fn read(text: &str) -> Option<Self> {
        Some(text.into())
    }

    fn write(&self, out: &mut String) {
        out.push_str(self);
    }
}

words! {
    /// The changes of a tier's meters.
    pub struct TierChanges as "tier_changes" by ' ' each ';' {
        /// The tier.
        pub tier: Id,
        /// Of each meter that changed.
        pub changes: Vec<MeterDelta>,
    }
}

words! {
    /// The change of a meter.
    pub struct MeterDelta as "meter_delta" by ':' list ',' {
        /// The meter.
        pub meter: MeterName,
        /// Minor units, or millionths (`*_micro`).
        pub delta: Signed,
    }
}

event_fields! {
    /// What every event of a jackpot has.
    pub struct Common {
        /// The change of each meter.
        pub changes as "meters": Vec<TierChanges>,
        /// Version of the definition that came into force with the event.
        pub applied: Option<u64>,
        /// The cycles that ended and began with it.
        pub cycles if "where a cycle may have changed": Given<CycleChanges>,
    }
}

event_types! {
    /// The amounts of meters are minor units, or millionths of one (`*_micro`).
    pub enum Kind with Common {
        /// The jackpot was created, or an operator put a definition.
        "define" Define(Define),
        /// One call took entries: entries that came one by one and were combined, or a batch.
        ///
        /// Within a run the pools follow by adding the amounts one by one, as `accrue` of `lua/jackpot/tiers.lua` does. A
        /// run begins at `split` too, because a take of all is before it.
        ///
        /// `claims` holds the first claim of each entry that came by itself, and all attempts of an entry of a batch, in
        /// the order in which they were made. `none` ends an entry of a batch with no prize.
        ///
        /// A batch of 10,000 entries costs Redis and the stream little more than its block. `jackpot verify` recomputes
        /// `amounts`, `runs`, `claims`, `meters` and `record`. Each entry of a batch that drew a prize has a record of its
        /// own in Redis. The service finds the others by the batch's record, which says their sequence, and by their
        /// event.
        "enter" Enter(Enter),
        /// A redraw of a pending entry claimed a prize, or a coupon answered.
        "claim" Claim {
            /// Id of the entry.
            entry_id as "entry": String,
            /// The claim.
            claim as "claims": Claim = "a `Claim`, then `;`" parse::only_claim,
        },
        /// A pending entry ended with no prize.
        "finish" Finish {
            /// Id of the entry.
            entry_id as "entry": String,
            /// Its sequence.
            sequence as "seq": u64,
        }
        unread {
            /// The attempt that ended it, from 0.
            attempt: u32,
        },
        /// An operator paused, resumed or closed the jackpot, or the service suspended it.
        "status" Status {
            /// As of every change.
            change: StatusChange<Status>,
            /// The epoch that closed with the jackpot.
            ended_epoch if "where it was open": Given<u64>,
        },
        /// The jackpot obeys the emergency stop, or its end.
        "emergency" Emergency(Obeyed),
        /// An operator put money in, took it out or moved it.
        "adjust" Adjust(Adjust),
        /// Money that is to leave the jackpot waits for a second owner. Nothing has moved.
        "ask" Ask(Ask),
        /// Money that waited for a second owner stays for good.
        "withdraw" Withdraw(Withdraw),
        /// A game cancelled the round of an entry, and its tiers gave its contribution back.
        "reverse" Reverse(Reverse),
        /// A game cancelled a round whose entry is not there: an entry of that id that comes later is refused.
        "cancel" Cancel(Cancel),
        /// Room was made for a transfer that another jackpot is about to give.
        "expect" Expect(Expect),
        /// An operator transferred all money of tiers to another jackpot: it is in transit until that one receives it.
        "give" Give(Give),
        /// The money of a transfer came in.
        "receive" Receive(Receive),
        /// Room that was made for a transfer ended unused: the other jackpot did not give these parts, or they are in.
        "release" Release(Release),
        /// A step of a payout that is tracked until the winner has the money.
        "payout" Payout(Box<PayoutStep>),
        /// The limit of a PUT that waited for an approval is in force.
        "approval" Approval(Approval),
        /// What Redis held right before the event. The ledger compares it with its books
        /// ([ledger](../explanation/ledger.md#what-is-compared)).
        "checkpoint" Checkpoint(Checkpoint),
        /// Redis was rebuilt from the events before this one.
        "restore" Restore {
            /// As of every restore.
            rebuilt: Rebuilt<Status>,
            /// How many records the restore wrote.
            records: u64,
            /// The epoch that was open; the restore closed it.
            closed: u64,
            /// The epoch that is open now.
            epoch: u64,
            /// What opened it.
            opening: Opening,
            /// The same epoch, which closed at once.
            ended_epoch if "of a closed jackpot": Given<u64>,
        },
        /// An instance with a longer setting raised how long ids are remembered.
        "retention" Retention {
            /// Before.
            before: u64,
            /// From now on.
            retention_s as "retention": u64,
        },
        /// An epoch closed and the next one opened.
        "rotate" Rotate {
            /// The epoch that opened.
            epoch: u64,
            /// What opened it.
            opening: Opening,
            /// `generation` when the older generation of records was dropped too.
            dropped as "kind": bool = "`epoch` or `generation`" parse::is_generation,
            /// Versions of definitions that no record needs any more.
            pruned: Vec<u64>,
            /// The epoch that opened, which closed at once.
            ended_epoch if "of a closed jackpot": Given<u64>,
        }
        unread {
            /// The epoch that closed.
            closed: u64,
            /// SHA-256 of the seed of the epoch that closed.
            closed_commitment: String,
            /// The generation of records that is written from now on, `a` or `b`; empty when none was dropped.
            generation as "dropped": String,
            /// Who asked for it and why.
            why: Why,
        },
        /// An operator skipped an event that could not be applied.
        "skipped" Skipped(Box<Skipped<Carried>>),
    }
}

event_fields! {
    /// A definition that was put.
    pub struct Define {
        /// As of every PUT.
        pub put: Put,
        /// Seeds and caps of its tiers, as the state in Redis has them.
        pub tiers: Option<String>,
        /// Digest of what affects money or odds.
        pub money: Option<String>,
        /// ISO 4217 code of all amounts from here on; it changes only while no money has been there.
        pub currency: Currency,
        /// What the jackpot began with.
        pub created if "for a new jackpot": Given<Created>,
        /// Version of the waiting definition that this one replaced; empty for none.
        pub superseded if "for a jackpot that was there": Option<u64>,
        /// Under what payouts are tracked after it.
        pub hold if "where payouts are or were tracked, or have a limit": Given<Hold>,
    }
    check |define| (define.put.is_new() != define.created.is_some()).then_some("mode")
}

event_fields! {
    /// What a jackpot begins with.
    pub struct Created {
        /// Its status.
        pub status: Status,
        /// What opened its first epoch.
        pub opening: Opening,
        /// For how long ids are remembered.
        pub retention_s as "retention": Option<u64>,
    }
    unread {
        /// Its first epoch: 1.
        epoch: u64,
    }
}

impl Deref for Define {
    type Target = Put;

    fn deref(&self) -> &Put {
        &self.put
    }
}

event_fields! {
    /// An adjustment that was made.
    pub struct Adjust {
        /// Its id.
        pub adjustment_id as "adjustment": Id,
        /// Digest of its content, by which the service knows a repeat.
        pub digest: String,
        /// The tier.
        pub tier: Id,
        /// The meter that it lowers; empty for money from outside.
        pub from: String,
        /// The meter that it raises; empty for money that leaves the jackpot.
        pub to: String,
        /// Minor units.
        pub amount: u64,
        /// Owner of the key; empty in events of an earlier version.
        pub owner: Option<String>,
        /// The owner who asked for it, where another one approved it; empty otherwise.
        pub asked: Option<String>,
    }
    unread {
        /// Who adjusted or approved it and why.
        why: Why,
    }
}

event_fields! {
    /// Money that waits for a second owner.
    pub struct Ask {
        /// Id of the adjustment; empty for a transfer.
        pub adjustment_id as "adjustment": Option<Id>,
        /// Id of the transfer; empty for an adjustment.
        pub transfer_id as "transfer": Option<Id>,
        /// Digest of the content, by which the service knows a repeat.
        pub digest: String,
        /// Owner of the key that asked.
        pub owner: String,
        /// What is to leave, minor units.
        pub amount: u64,
        /// The jackpot that a transfer goes to; `-` for outside.
        pub to: String,
        /// `tier,meter` of an adjustment; what the tiers hold of a transfer.
        pub what: String,
    }
    unread {
        /// Who asked for it and why.
        why: Why,
    }
    check |ask| leaving(ask.adjustment_id.as_ref(), ask.transfer_id.as_ref()).is_none().then_some("adjustment")
}

event_fields! {
    /// The end of a request that waited for a second owner.
    pub struct Withdraw {
        /// Id of the adjustment; empty for a transfer.
        pub adjustment_id as "adjustment": Option<Id>,
        /// Id of the transfer; empty for an adjustment.
        pub transfer_id as "transfer": Option<Id>,
        /// Owner of the key.
        pub owner: String,
    }
    unread {
        /// Who ended it and why.
        why: Why,
    }
    check |ends| leaving(ends.adjustment_id.as_ref(), ends.transfer_id.as_ref()).is_none().then_some("adjustment")
}

/// The one of both that is named; `None` when it is none or both.
fn leaving(adjustment: Option<&Id>, transfer: Option<&Id>) -> Option<Leaving> {
    match (adjustment, transfer) {
        (Some(id), None) => Some(Leaving::Adjustment(id.clone())),
        (None, Some(id)) => Some(Leaving::Transfer(id.clone())),
        _ => None,
    }
}

impl Kind {
    /// Its claims. What a skipped event paid is no claim.
    pub fn claims(&self) -> &[Claim] {
        match self {
            Self::Enter(enter) => &enter.claims,
            Self::Claim { claim, .. } => std::slice::from_ref(claim),
            _ => &[],
        }
    }

    /// The records that it adds to those of adjustments, by name: its own, and those of transfers and of what waits for a
    /// second owner.
    pub fn records(&self) -> Vec<(String, String)> {
        match self {
            Self::Adjust(adjust) => vec![(adjust.adjustment_id.to_string(), adjust.digest.clone())],
            Self::Ask(ask) => vec![(ask.leaving().held(), ask.record().to_string())],
            Self::Withdraw(ends) => vec![(ends.leaving().withdrawn(), ends.owner.clone())],
            Self::Expect(expect) => {
                let name = transfer::room(&expect.from, &expect.transfer_id, &expect.digest);
                vec![(name, expect.parts.text())]
            }
            Self::Give(give) => {
                let record = GivenRecord {
                    digest: give.digest.clone(),
                    to: give.to.clone(),
                    parts: give.parts.clone(),
                };
                vec![(transfer::out(&give.transfer_id), record.to_string())]
            }
            Self::Receive(receive) => {
                let (from, transfer_id) = (&receive.from, &receive.transfer_id);
                let came = (transfer::came_in(from, transfer_id), receive.parts.text());
                let freed = |room: &String| (transfer::freed(from, transfer_id, room), "in".to_owned());
                [came].into_iter().chain(receive.room.as_ref().map(freed)).collect()
            }
            Self::Release(ends) => {
                let name = transfer::freed(&ends.from, &ends.transfer_id, &ends.digest);
                vec![(name, "unused".to_owned())]
            }
            _ => Vec::new(),
        }
    }
}

impl Adjust {
    /// What it took out of the jackpot without an approval.
    pub fn took(&self, at_ms: i64) -> Option<Took> {
        let leaves = !self.from.is_empty() && self.to.is_empty() && self.asked.is_none();
        took(self.owner.as_ref().filter(|_| leaves), at_ms, self.amount)
    }
}

impl Give {
    /// What it took out of the jackpot without an approval.
    pub fn took(&self, at_ms: i64) -> Option<Took> {
        let owner = self.owner.as_ref().filter(|_| self.asked.is_none());
        took(owner, at_ms, leaves(&self.parts))
    }
}

fn took(owner: Option<&String>, at_ms: i64, amount: u64) -> Option<Took> {
    let owner = owner.filter(|_| amount > 0)?.clone();
    Some(Took { owner, at_ms, amount })
}

/// What leaves with these parts, whole minor units.
pub fn leaves(parts: &[Part]) -> u64 {
    let of =
        |part: &Part| part.pool + part.reserve + part.overflow + (part.pool_micro + part.reserve_micro) / 1_000_000;
    parts.iter().map(of).sum()
}

impl Ask {
    /// What waits.
    pub fn leaving(&self) -> Leaving {
        leaving(self.adjustment_id.as_ref(), self.transfer_id.as_ref()).expect("checked when it was read")
    }

    /// Its record in Redis, in place of a digest.
    pub fn record(&self) -> HeldRecord {
        HeldRecord {
            digest: self.digest.clone(),
            owner: self.owner.clone(),
            amount: self.amount,
            to: self.to.clone(),
            what: self.what.clone(),
        }
    }
}

impl Withdraw {
    /// What waited.
    pub fn leaving(&self) -> Leaving {
        leaving(self.adjustment_id.as_ref(), self.transfer_id.as_ref()).expect("checked when it was read")
    }
}

event_fields! {
    /// A reversal.
    pub struct Reverse {
        /// Its id.
        pub reversal_id as "reversal": Id,
        /// Id of the entry.
        pub entry_id as "entry": String,
        /// Its sequence.
        pub sequence as "seq": u64,
        /// Its stake, minor units.
        pub stake: u64,
        /// Its source; empty for none. The source's own contribution is what goes back, if it has one.
        pub source_id as "source": Option<Id>,
        /// Version of the definition that it entered under.
        pub version: u64,
        /// What each tier gave back.
        pub reversed: Vec<ReversedTier>,
        /// The record of its id.
        pub used if "where the generation had none": Given<ReversalUse>,
    }
    unread {
        /// Who asked for it and why.
        why: Why,
    }
}

event_fields! {
    /// A reversal that came before its entry.
    pub struct Cancel {
        /// Its id.
        pub reversal_id as "reversal": Id,
        /// Id of the entry.
        pub entry_id as "entry": String,
        /// Name of the key whose sources it counts for; `-` for all.
        pub by: OrDash<Id>,
        /// The records that it wrote.
        pub records: Vec<EarlyRow>,
    }
    unread {
        /// Who asked for it and why.
        why: Why,
    }
}

impl Reverse {
    /// Number of records that it added.
    pub fn records(&self) -> u64 {
        1 + u64::from(self.used.is_some())
    }
}

impl Cancel {
    /// Number of records that it added.
    pub fn added(&self) -> u64 {
        self.records.iter().filter(|row| row.is_new).count() as u64
    }
}

event_fields! {
    /// Room for a transfer.
    pub struct Expect {
        /// Its id.
        pub transfer_id as "transfer": Id,
        /// The jackpot that gives.
        pub from: Id,
        /// Digest of the parts, which names the room; where it is not the first for them, then `!` and its number.
        pub digest: String,
        /// What the jackpot holds in each tier, and where it goes.
        pub parts: Vec<Part>,
    }
    unread {
        /// Who asked for it and why.
        why: Why,
    }
}

event_fields! {
    /// A transfer that was given.
    pub struct Give {
        /// Its id.
        pub transfer_id as "transfer": Id,
        /// Digest of its content, by which the service knows a repeat.
        pub digest: String,
        /// The jackpot that it goes to.
        pub to: Id,
        /// What each tier gave, and where it goes.
        pub parts: Vec<Part>,
        /// Owner of the key; empty in events of an earlier version.
        pub owner: Option<String>,
        /// The owner who asked for it, where another one approved it; empty otherwise.
        pub asked: Option<String>,
    }
    unread {
        /// Who transferred or approved it and why.
        why: Why,
    }
}

event_fields! {
    /// A transfer that came in.
    pub struct Receive {
        /// Its id.
        pub transfer_id as "transfer": Id,
        /// The jackpot that gave it.
        pub from: Id,
        /// What each tier gave, and where it went.
        pub parts: Vec<Part>,
        /// The digest in the name of the room that it took; empty where there was none, and in events of an earlier
        /// version.
        pub room: Option<String>,
    }
}

event_fields! {
    /// Room for a transfer that ended unused.
    pub struct Release {
        /// Id of the transfer.
        pub transfer_id as "transfer": Id,
        /// The jackpot that would have given.
        pub from: Id,
        /// The digest in the name of the room.
        pub digest: String,
        /// The parts that it was made for.
        pub parts: Vec<Part>,
    }
}

event_fields! {
    /// A step of a payout.
    pub struct PayoutStep {
        /// Its id.
        pub payout_id as "payout": String,
        /// The tier that paid it.
        pub tier: Id,
        /// Minor units.
        pub amount: u64,
        /// What was done.
        pub step: Step,
        /// State before.
        pub before: State,
        /// State after.
        pub after: State,
        /// Name of the key that approved it; empty for none, as the others.
        pub approved_by: String,
        /// Owner of that key.
        pub approver: String,
        /// How the last attempt to settle it ended.
        pub attempt: Option<Ended>,
        /// Settlement id of that attempt.
        pub settlement_id as "settlement": String,
        /// Its reference, or why it failed.
        pub text: String,
        /// When it was reported, ms of Redis' clock.
        pub attempt_at: Option<i64>,
        /// The owner who asked to take it back.
        pub asked: String,
        /// Owner of the key.
        pub owner: String,
    }
    unread {
        /// Who did it and why; for a settlement its reference.
        why: Why,
    }
}

impl PayoutStep {
    /// The step in the fields of an event that may not be readable as a whole.
    pub fn of_fields(fields: &EventFields) -> Option<Self> {
        let is_step = fields.get("type") == Some("payout");
        is_step.then(|| Self::read(&Fields(fields), "").ok()).flatten()
    }

    /// The payout after it.
    pub fn standing(&self, at_ms: i64) -> Standing {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Standing {
            state: self.after,
            approved: some(&self.approved_by).map(|key| (key, self.approver.clone())),
            attempt: self.attempt.map(|ended| Attempt {
                ended,
                settlement_id: self.settlement_id.clone(),
                text: self.text.clone(),
                at_ms: self.attempt_at.unwrap_or(at_ms),
            }),
            asked: some(&self.asked),
        }
    }
}

event_fields! {
    /// An approval of a limit.
    pub struct Approval {
        /// Version of the PUT that it names.
        pub version: u64,
        /// Under what payouts are tracked after it.
        pub hold: Hold,
        /// Owner of the key.
        pub owner: String,
    }
    unread {
        /// Who approved it and why.
        why: Why,
    }
}

event_fields! {
    /// What Redis held.
    pub struct Checkpoint {
        /// The state and the numbers of records, by their names in `lua/jackpot/state.lua`.
        pub held as "state": BTreeMap<String, String> = "`name value`, one a line" parse_held,
        /// Every meter of the tiers in force.
        pub meters as "tiers": BTreeMap<String, i64> = "`name pool reserve overflow pool_micro reserve_micro contributed contributed_micro funded paid wins pool_written;` for each tier; before the `;` also `funded_micro reversed reversed_micro transferred_in transferred_in_micro transferred_out transferred_out_micro expected` if one of them is not 0, and then `voided` if it is not 0" parse::held_meters,
    }
}

event_fields! {
    /// Entries that one call took.
    pub struct Enter {
        /// The entries, and what each added.
        pub call: Call,
        /// Claims of the entries that drew a prize: all attempts of a batch's entries, only the first of a single entry.
        pub claims: Vec<Claim>,
        /// The record of the batch (`lua/jackpot/batch.lua`).
        pub batch_record as "record" if "for a batch": Option<BatchRecord>,
        /// 1 when single entries without a prize share one record of the call, which Redis keeps beside the records of
        /// entries.
        pub of_call as "call": bool = "1 or empty" parse::is_of_call,
        /// The entries that hit a pool by its rule.
        pub hits if "where an entry hit": Given<Vec<HitRow>>,
        /// The records of early cancels of this generation that its records replaced.
        pub over if "where an entry came after a cancel that is not for its source": Given<Vec<Replaced>>,
    }
    check parse::wrong_in_enter
}

impl Enter {
    /// The batch of the entries, and its record.
    pub fn batch(&self) -> Option<(&Id, &BatchRecord)> {
        self.call.batch.as_ref().zip(self.batch_record.as_ref())
    }

    /// Number of records of entries and batches that the call added. A batch has its own record, and one for each
    /// entry that drew a prize.
    pub fn records(&self) -> u64 {
        let all = match self.batch() {
            Some(_) => self.claims.chunk_by(|a, b| a.sequence == b.sequence).count() + 1,
            None => self.call.entries.len(),
        };
        (all as u64).saturating_sub(self.replaced().len() as u64)
    }

    /// The names of the records of early cancels that its records replaced.
    pub fn replaced(&self) -> &[Replaced] {
        self.over.as_deref().unwrap_or_default()
    }

    /// Whether the record of this name replaced one of early cancels.
    pub fn has_replaced(&self, name: &str) -> bool {
        self.replaced().iter().any(|replaced| replaced.name == name)
    }

    /// The claims of the entry with this sequence.
    pub fn claims_of(&self, sequence: u64) -> &[Claim] {
        let from = self.claims.partition_point(|claim| claim.sequence < sequence);
        let own = self.claims[from..].partition_point(|claim| claim.sequence == sequence);
        &self.claims[from..from + own]
    }
}

record! {
    /// One claim of an entry.
    pub struct Claim as "claim" by ',' each ';' {
        /// Sequence of the entry.
        pub sequence: u64,
        /// From 0.
        pub attempt: u32,
        /// The rank that it drew, 0 for nothing.
        pub rank: u32,
    }
    /// The result of a claim.
    pub result: pub enum ClaimResult {
        /// The pool paid money.
        "paid" Paid {
            /// The tier.
            tier: Id,
            /// Minor units.
            amount: u64,
            /// Number of the paid claim.
            claim_order: u64,
            /// What the pool held before.
            pool_before: u64,
        }
        /// The pool held too little.
        "retry" Retry {
            /// The tier.
            tier: Id,
            /// What it held.
            pool_before: u64,
        }
        /// The prize is not money: a later call decides.
        "later" Later
        /// The coupon gave a unit.
        "issued" Issued {
            /// The coupon.
            coupon_id: Id,
            /// Number of the issue within the coupon, from 1.
            sequence: u64,
            /// The unit's code.
            code: String,
        }
        /// The coupon gave none.
        "refused" Refused {
            /// The coupon.
            coupon_id: Id,
            /// Why.
            reason: Reason,
        }
        /// The attempt drew nothing, or was the last one: the entry ended without a prize. Only in a batch.
        "none" Ended
    }
}

impl ClaimResult {
    /// Whether the entry has its prize.
    pub fn is_won(&self) -> bool {
        matches!(self, Self::Paid { .. } | Self::Issued { .. })
    }

    /// Why the rank refused the entry, if it did.
    pub fn refusal(&self) -> Option<Reason> {
        match self {
            Self::Retry { .. } => Some(Reason::Retry),
            Self::Refused { reason, .. } => Some(*reason),
            Self::Paid { .. } | Self::Issued { .. } | Self::Later | Self::Ended => None,
        }
    }
}

impl Event {
    /// The epoch that ended with it and that none follows, because the jackpot is closed.
    pub fn ended_epoch(&self) -> Option<u64> {
        match &self.kind {
            Kind::Status { ended_epoch, .. } | Kind::Restore { ended_epoch, .. } | Kind::Rotate { ended_epoch, .. } => {
                **ended_epoch
            }
            _ => None,
        }
    }

    /// Reads the fields of a stream entry.
    pub fn parse(fields: &EventFields) -> Result<Self, Unreadable> {
        let fields = Fields(fields);
        let Envelope { n, at_ms, history } = Envelope::read(&fields, "")?;
        let Common {
            changes,
            applied,
            cycles,
        } = Common::read(&fields, "")?;
        Ok(Self {
            n,
            at_ms,
            history,
            changes: parse::flat(changes),
            applied,
            cycles: cycles.0.map(|CycleChanges(all)| all).unwrap_or_default(),
            kind: Kind::read(&fields)?,
        })
    }
}
