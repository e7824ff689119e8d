//! What the events of a jackpot tell other systems.

use jackpot_api::ledger::{TransferPart, TransferRow, TransferState};
use jackpot_api::payout::ListedPayout;
use jackpot_core::receipt::Receipt;
use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::cycle::CycleChange;
use jackpot_core::jackpot::derived::{draw_request, payout_id};
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::epoch::Opening;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::jackpot::settlement::{State, Step};
use jackpot_core::jackpot::transfer::Part;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::carried::CarriedEntry;
use super::event::{Claim, ClaimResult, Event, Give, Kind, PayoutStep, Reverse};
use super::facts::Fact;
use super::lookup::entry_taken;
use super::parts::{carried_parts, paid, parts};
use super::projector::Jackpots;
use super::queries::payouts;
use crate::ledger::event::Enter;
use crate::ledger::queries::Queries;
use jackpot_api::jackpot::Status;
use jackpot_kernel::ledger::outgoing::{Fields, TellError, Teller, Tells, Told, Wants, history_before};
use jackpot_kernel::ledger::projector::lease::numbered;
use jackpot_kernel::ledger::queries::LedgerError;
use jackpot_kernel::ledger::stored::Stored;
use jackpot_kernel::sql::{AtHome, Sql, int};
use jackpot_kernel::subject::kinds::JACKPOT;

const TAKEN: &str = "entry.taken";
const FINISHED: &str = "entry.finished";
const REVERSED: &str = "entry.reversed";
const CREATED: &str = "payout.created";
const HELD: &str = "payout.held";
const DUE: &str = "payout.due";
const SETTLED: &str = "payout.settled";
const FAILED: &str = "payout.failed";
const VOID: &str = "payout.void";
const WITHDRAWN: &str = "payout.withdrawn";
const CYCLE_BEGAN: &str = "cycle.began";
const CYCLE_ENDED: &str = "cycle.ended";
const DEFINED: &str = "jackpot.defined";
const STATUS: &str = "jackpot.status";
const RESTORED: &str = "jackpot.restored";
const EPOCH_OPENED: &str = "epoch.opened";
const EPOCH_CLOSED: &str = "epoch.closed";
const ADJUSTED: &str = "adjustment.made";
const TRANSFERRED: &str = "transfer.made";

impl Tells for Jackpots {
    const TYPES: &'static [&'static str] = &[
        TAKEN,
        FINISHED,
        REVERSED,
        CREATED,
        HELD,
        DUE,
        SETTLED,
        FAILED,
        VOID,
        WITHDRAWN,
        CYCLE_BEGAN,
        CYCLE_ENDED,
        DEFINED,
        STATUS,
        RESTORED,
        EPOCH_OPENED,
        EPOCH_CLOSED,
        ADJUSTED,
        TRANSFERRED,
        jackpot_kernel::ledger::outgoing::SUSPENDED,
    ];

    async fn tell(sql: &AtHome, id: &Id, rows: &[Stored], wants: Wants<'_>) -> Result<Vec<Told>, TellError> {
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let fields = Fields::of(JACKPOT, id, row)?;
            // Most calls pay nothing, and their entries take long to read.
            let is_passed = !wants(TAKEN) && is_quiet(&fields) && !wants(CYCLE_BEGAN) && !wants(CYCLE_ENDED);
            let event = if is_passed {
                None
            } else {
                Some(Event::parse(&fields.all).map_err(|error| fields.unreadable(&error))?)
            };
            events.push((row, fields, event));
        }
        let known = Known::read(sql, id, events.iter().filter_map(|(_, _, event)| event.as_ref()), wants).await?;
        let mut told = Vec::with_capacity(rows.len());
        for (row, fields, event) in events {
            let mut teller = Teller::new(wants);
            if let Some(event) = event {
                let beside = match &event.kind {
                    Kind::Restore { .. } if wants(RESTORED) => {
                        Beside::History(history_before(sql, JACKPOT, id, row.n).await?)
                    }
                    Kind::Payout(step) if type_of(step.step).is_some_and(wants) => {
                        Beside::Payout(Box::new(payout_after(sql, &fields, event.at_ms, step).await?))
                    }
                    Kind::Claim { entry_id, claim }
                        if matches!(claim.result, ClaimResult::Issued { .. }) && wants(FINISHED) =>
                    {
                        Beside::Epoch(epoch_of(sql, &fields, id, entry_id.as_str(), claim.sequence).await?)
                    }
                    _ => Beside::Nothing,
                };
                known.tell(&mut teller, id, &fields, event, &beside)?;
                told.push(teller.told(row, &fields));
            } else {
                told.push(Told {
                    n: row.n,
                    at_ms: row.at_ms,
                    history: fields.text("history").to_owned(),
                    events: Vec::new(),
                });
            }
        }
        Ok(told)
    }
}

/// What SQL has beside one event.
enum Beside {
    Nothing,
    /// The history before a restore.
    History(String),
    /// The payout, as it was after a step.
    Payout(Box<ListedPayout>),
    /// The epoch of the entry that won a unit of a coupon. `None` where a skipped event lost it.
    Epoch(Option<u64>),
}

/// What a step of a payout tells; a request to take it back has no type of its own.
fn type_of(step: Step) -> Option<&'static str> {
    match step {
        Step::Approve => Some(DUE),
        Step::Settle => Some(SETTLED),
        Step::Fail => Some(FAILED),
        Step::Void => Some(VOID),
        Step::Withdraw => Some(WITHDRAWN),
        Step::VoidRequest => None,
    }
}

async fn payout_after(
    sql: &AtHome,
    fields: &Fields<'_>,
    at_ms: i64,
    step: &PayoutStep,
) -> Result<ListedPayout, TellError> {
    let payout_id = step.payout_id.clone();
    let read = sql.ask(|sql| async move { Queries::new(sql, 0).listed_payout(&payout_id).await });
    let payout = read.await.map_err(|error| ledger_error(fields, error))?;
    Ok(payout.after(step.standing(at_ms)))
}

async fn epoch_of(
    sql: &AtHome,
    fields: &Fields<'_>,
    jackpot: &Id,
    entry_id: &str,
    sequence: u64,
) -> Result<Option<u64>, TellError> {
    let (jackpot, entry_id) = (jackpot.clone(), entry_id.to_owned());
    let read = sql.ask(|sql| async move { entry_taken(&sql, &jackpot, &entry_id, sequence).await });
    match read.await {
        Ok(taken) => Ok(Some(taken.record.epoch)),
        Err(LedgerError::Skipped(_)) => Ok(None),
        Err(error) => Err(ledger_error(fields, error)),
    }
}

fn ledger_error(fields: &Fields<'_>, error: LedgerError) -> TellError {
    match error {
        LedgerError::Sql(error) => TellError::Sql(error),
        other => fields.damaged(other.to_string()),
    }
}

/// Whether an event took entries, none of which drew a prize.
fn is_quiet(fields: &Fields<'_>) -> bool {
    fields.text("type") == "enter" && fields.text("claims").is_empty()
}

/// An entry as its call took it.
#[derive(Serialize)]
struct TakenEntry<'a> {
    entry_id: &'a str,
    player_id: &'a PersonId,
    stake: u64,
    source_id: Option<&'a Id>,
    sequence: u64,
    /// `None` where a skipped event does not say it.
    contributions: Option<Vec<Contribution<'a>>>,
}

#[derive(Serialize)]
struct Contribution<'a> {
    tier: &'a Id,
    amount: u64,
    pool: u64,
}

#[derive(Serialize)]
struct TakenPart<'a> {
    part: usize,
    parts: usize,
    entries: Vec<TakenEntry<'a>>,
}

/// What events refer to.
struct Known {
    /// Receipts by the order of their claims.
    receipts: BTreeMap<u64, Receipt>,
    /// Where tracked payouts began, and their sources, by the order of their claims.
    begun: BTreeMap<u64, (State, Option<String>)>,
    /// Tiers of definitions by version.
    tiers: BTreeMap<u64, Vec<Id>>,
}

impl Known {
    async fn read(
        sql: &AtHome,
        id: &Id,
        events: impl Iterator<Item = &Event> + Clone,
        wants: Wants<'_>,
    ) -> Result<Self, TellError> {
        let orders: BTreeSet<u64> = events.clone().flat_map(|event| paid(&event.kind)).collect();
        let (mut receipts, mut begun) = (BTreeMap::new(), BTreeMap::new());
        if let (Some(first), Some(last)) = (orders.first(), orders.last()) {
            if [CREATED, HELD, DUE].iter().any(|kind| wants(kind)) {
                let (id, first, last) = (id.clone(), *first, *last);
                let read = sql.ask(|sql| async move { payouts::receipts(&sql, &id, first, last).await });
                receipts = read.await?;
            }
            // Also where nobody wants them: they are numbered.
            let (of, first, last) = (id.clone(), *first, *last);
            let read = sql.ask(|sql| async move { payouts::begun(&sql, &of, first, last).await });
            begun = read.await.map_err(|error| match error {
                LedgerError::Sql(error) => TellError::Sql(error),
                other => TellError::Damaged(format!("jackpot '{id}'"), other.to_string()),
            })?;
        }
        let versions: BTreeSet<u64> = if wants(TAKEN) {
            events.flat_map(versions).collect()
        } else {
            BTreeSet::new()
        };
        Ok(Self {
            receipts,
            begun,
            tiers: tiers(sql, id, versions).await?,
        })
    }

    fn tell(
        &self,
        teller: &mut Teller<'_>,
        id: &Id,
        fields: &Fields<'_>,
        event: Event,
        beside: &Beside,
    ) -> Result<(), TellError> {
        let orders = paid(&event.kind);
        let at = At {
            jackpot: id,
            n: event.n,
            at_ms: event.at_ms,
            history: event.history.clone(),
        };
        let cycles = event.cycles.clone();
        let facts = event.into_facts();
        for fact in &facts {
            match fact {
                Fact::Taken(enter) => self.taken(teller, fields, enter)?,
                Fact::Skipped(rest) => skipped_entries(teller, &rest.entries),
                _ => {}
            }
        }
        let receipt = |order: &u64| {
            let missing = || fields.damaged(format!("the receipt of claim {order} is missing"));
            self.receipts.get(order).ok_or_else(missing)
        };
        for order in &orders {
            teller.try_add(CREATED, || receipt(order))?;
        }
        // After all receipts, whose ids are signed: they must not depend on whether payouts are tracked.
        for (order, (state, source)) in orders.iter().filter_map(|order| Some((order, self.begun.get(order)?))) {
            let kind = if *state == State::Held { HELD } else { DUE };
            teller.try_add(kind, || {
                Ok(ListedPayout::begun(receipt(order)?.clone(), *state, source.clone()))
            })?;
        }
        for fact in facts {
            fact_told(teller, fields, &at, fact, beside);
        }
        for change in &cycles {
            cycle(teller, change, at.at_ms);
        }
        Ok(())
    }

    fn taken(&self, teller: &mut Teller<'_>, fields: &Fields<'_>, enter: &Enter) -> Result<(), TellError> {
        let call = &enter.call;
        let parts = parts(&call.entries);
        for (part, places) in (1..).zip(&parts) {
            teller.try_add(TAKEN, || {
                let entries = places.clone().map(|place| {
                    let (entry, version) = (&call.entries[place], call.version_of(place));
                    let missing = || fields.damaged(format!("definition {version} is missing"));
                    let tiers = self.tiers.get(&version).ok_or_else(missing)?;
                    let contributions = tiers.iter().zip(&entry.contributions);
                    let contributions = contributions.map(|(tier, added)| Contribution {
                        tier,
                        amount: added.amount,
                        pool: added.pool,
                    });
                    Ok(TakenEntry {
                        entry_id: &entry.entry_id,
                        player_id: &entry.sent.player,
                        stake: entry.sent.stake.get(),
                        source_id: entry.sent.source.as_ref(),
                        sequence: call.first + place as u64,
                        contributions: Some(contributions.collect()),
                    })
                });
                Ok(TakenPart {
                    part,
                    parts: parts.len(),
                    entries: entries.collect::<Result<_, TellError>>()?,
                })
            })?;
        }
        Ok(())
    }
}

/// Which event.
struct At<'a> {
    jackpot: &'a Id,
    n: u64,
    at_ms: i64,
    history: String,
}

/// Adds what a fact tells, unless it is about entries that were taken.
fn fact_told(teller: &mut Teller<'_>, fields: &Fields<'_>, at: &At<'_>, fact: Fact, beside: &Beside) {
    match fact {
        Fact::Taken(_)
        | Fact::Dropped(_)
        | Fact::Recorded { .. }
        | Fact::Held(_)
        | Fact::Stepped { is_carried: true, .. }
        | Fact::Received { parts: None, .. } => {}
        Fact::Operated | Fact::Skipped(_) => teller.step(fields),
        Fact::Stepped { step, .. } => match (type_of(step.step), beside) {
            (Some(kind), Beside::Payout(payout)) => teller.add(kind, || payout),
            (Some(kind), _) => teller.add(kind, || Value::Null),
            (None, _) => teller.step(fields),
        },
        Fact::Claimed { entry_id, claim } => {
            if claim.result.is_won() {
                let epoch = match beside {
                    Beside::Epoch(epoch) => *epoch,
                    _ => None,
                };
                teller.add(FINISHED, || finished(at.jackpot, &entry_id, epoch, &at.history, &claim));
            }
        }
        Fact::Finished { entry_id, sequence } => teller.add(FINISHED, || {
            json!({"entry_id": entry_id, "sequence": sequence, "rank": 0, "tier": null, "amount": null,
                "payout_id": null, "claim_order": null, "coupon": null})
        }),
        Fact::Defined { version, json, mode } => {
            let who = mode.map(|_| fields.text("who"));
            teller.add(
                DEFINED,
                || json!({"version": version, "state": mode, "definition": json_of(&json), "who": who}),
            );
        }
        Fact::Changed(change) => {
            teller.add(STATUS, || {
                json!({"status": change.after.as_str(), "before": change.before.as_str(),
                    "reason": fields.text("reason"), "who": fields.text("who")})
            });
            teller.suspended(change.after == Status::Suspended, fields);
        }
        Fact::Adjusted(adjust) => teller.add(ADJUSTED, || adjusted(&adjust.adjustment_id, fields)),
        Fact::Reversed(reverse) => teller.add(REVERSED, || reversed(&reverse, fields)),
        Fact::Given { give, .. } => teller.add(TRANSFERRED, || given(at.jackpot, &give)),
        Fact::Received {
            from,
            transfer_id,
            parts: Some(parts),
            ..
        } => teller.add(TRANSFERRED, || received(at.jackpot, &from, &transfer_id, &parts)),
        Fact::Restored(rebuilt) => {
            let history = match beside {
                Beside::History(history) => Some(history),
                _ => None,
            };
            teller.add(RESTORED, || {
                json!({"before": {"history": history, "last_n": at.n - 1}, "restores": rebuilt.restores,
                    "status": rebuilt.status.as_str(), "reason": fields.text("reason"), "who": fields.text("who")})
            });
        }
        Fact::EpochClosed { epoch, at_ms } => teller.add(EPOCH_CLOSED, || closed_epoch(epoch, at_ms)),
        Fact::EpochOpened { epoch, opening, at_ms } => teller.add(EPOCH_OPENED, || opened(epoch, &opening, at_ms)),
    }
}

/// The definitions under which the entries of an event were taken.
fn versions(event: &Event) -> Vec<u64> {
    match &event.kind {
        Kind::Enter(enter) => {
            let split = enter.call.split.map(|split| split.version);
            std::iter::once(enter.call.version).chain(split).collect()
        }
        _ => Vec::new(),
    }
}

async fn tiers(sql: &AtHome, id: &Id, versions: BTreeSet<u64>) -> Result<BTreeMap<u64, Vec<Id>>, TellError> {
    let mut all = BTreeMap::new();
    if versions.is_empty() {
        return Ok(all);
    }
    let of = id.clone();
    let found = sql.ask(|sql| async move { definitions(&sql, &of, &versions).await });
    for (version, text) in found.await? {
        let document: Document = serde_json::from_str(&text).map_err(|error| {
            TellError::Damaged(
                format!("jackpot '{id}'"),
                format!("definition {version} can't be read: {error}"),
            )
        })?;
        let tiers = document.tiers.into_iter().map(|tier| tier.tier);
        all.insert(version.unsigned_abs(), tiers.collect());
    }
    Ok(all)
}

async fn definitions(sql: &Sql, id: &Id, versions: &BTreeSet<u64>) -> Result<Vec<(i64, String)>, sqlx::Error> {
    let text = format!(
        "SELECT version, json FROM definitions WHERE kind = 'jackpot' AND id = $1 AND version IN ({})",
        numbered(2, versions.len())
    );
    let select = sqlx::query_as(AssertSqlSafe(text)).bind(id.as_str());
    let select = versions
        .iter()
        .fold(select, |select, version| select.bind(int(*version)));
    sql.reading(select.fetch_all(sql.reader())).await
}

fn skipped_entries(teller: &mut Teller<'_>, entries: &[CarriedEntry]) {
    let parts = carried_parts(entries);
    for (part, places) in (1..).zip(&parts) {
        teller.add(TAKEN, || {
            let sent: Vec<_> = entries[places.clone()]
                .iter()
                .map(|entry| (entry, Sent::parse(&entry.sent)))
                .collect();
            let entries = sent.iter().filter_map(|(entry, sent)| {
                let sent = sent.as_ref()?;
                Some(TakenEntry {
                    entry_id: &entry.entry_id,
                    player_id: &sent.player,
                    stake: sent.stake.get(),
                    source_id: sent.source.as_ref(),
                    sequence: entry.sequence,
                    contributions: None,
                })
            });
            json!(TakenPart {
                part,
                parts: parts.len(),
                entries: entries.collect(),
            })
        });
    }
}

fn finished(id: &Id, entry_id: &str, epoch: Option<u64>, history: &str, claim: &Claim) -> Value {
    let (mut tier, mut amount, mut payout, mut order, mut coupon) = (None, None, None, None, Value::Null);
    match &claim.result {
        ClaimResult::Paid {
            tier: of,
            amount: paid,
            claim_order,
            ..
        } => {
            (tier, amount, order) = (Some(of), Some(paid), Some(claim_order));
            payout = Some(payout_id(id, history, entry_id, claim.sequence));
        }
        ClaimResult::Issued {
            coupon_id,
            sequence,
            code,
        } => {
            let request = epoch.map(|epoch| draw_request(id, entry_id, epoch));
            coupon = json!({"coupon_id": coupon_id, "request_id": request, "sequence": sequence, "code": code});
        }
        _ => {}
    }
    json!({"entry_id": entry_id, "sequence": claim.sequence, "rank": claim.rank, "tier": tier, "amount": amount,
        "payout_id": payout, "claim_order": order, "coupon": coupon})
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn opened(epoch: u64, opening: &Opening, at_ms: i64) -> Value {
    json!({"epoch": epoch, "nonce": opening.nonce, "secret_id": opening.secret_id, "commitment": opening.commitment,
        "opened_at": rfc3339(at_ms)})
}

fn closed_epoch(epoch: u64, at_ms: i64) -> Value {
    json!({"epoch": epoch, "closed_at": rfc3339(at_ms)})
}

fn adjusted(adjustment_id: &Id, fields: &Fields<'_>) -> Value {
    let meter = |name: &str| {
        Some(fields.text(name))
            .filter(|meter| !meter.is_empty())
            .map(str::to_owned)
    };
    json!({"adjustment_id": adjustment_id, "tier": fields.text("tier"), "from": meter("from"), "to": meter("to"),
        "amount": fields.number("amount"), "reason": fields.text("reason"), "who": fields.text("who")})
}

fn reversed(reverse: &Reverse, fields: &Fields<'_>) -> Value {
    let tiers = reverse.reversed.iter().map(|part| {
        json!({"tier": part.tier, "amount": part.amount, "amount_micro": part.amount_micro,
            "uncovered": part.uncovered, "uncovered_micro": part.uncovered_micro})
    });
    json!({"reversal_id": reverse.reversal_id, "entry_id": reverse.entry_id, "sequence": reverse.sequence,
        "stake": reverse.stake, "source_id": reverse.source_id, "reversed": tiers.collect::<Vec<_>>(),
        "reason": fields.text("reason"), "who": fields.text("who")})
}

fn given(id: &Id, give: &Give) -> TransferRow {
    TransferRow {
        transfer_id: give.transfer_id.to_string(),
        jackpot_id: id.to_string(),
        to: give.to.to_string(),
        tiers: give.parts.iter().map(TransferPart::from).collect(),
        state: TransferState::InTransit,
        owner: None,
        reason: None,
    }
}

fn received(id: &Id, from: &Id, transfer_id: &Id, parts: &[Part]) -> TransferRow {
    TransferRow {
        transfer_id: transfer_id.to_string(),
        jackpot_id: from.to_string(),
        to: id.to_string(),
        tiers: parts.iter().map(TransferPart::from).collect(),
        state: TransferState::Done,
        owner: None,
        reason: None,
    }
}

fn cycle(teller: &mut Teller<'_>, change: &CycleChange, at_ms: i64) {
    let second = |at: i64| rfc3339(at.saturating_mul(1_000));
    match change {
        CycleChange::Ended { tier, cycle, by } => teller.add(
            CYCLE_ENDED,
            || json!({"tier": tier, "cycle": cycle, "ended_by": by.as_str(), "ended_at": rfc3339(at_ms)}),
        ),
        CycleChange::Began(row) => teller.add(CYCLE_BEGAN, || {
            json!({"tier": row.tier, "cycle": row.cycle, "nonce": row.nonce, "secret_id": row.secret,
                "commitment": row.commitment.0, "low": row.low.0, "high": row.high.0, "version": row.pins.0.map(|pins| pins.version),
                "began_at": rfc3339(row.began), "from_at": row.floor().map(second), "deadline_at": row.deadline.0.map(second)})
        }),
    }
}
