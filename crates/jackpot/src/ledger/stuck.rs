//! What a skip carries on from a jackpot's event.
//!
//! | what | source |
//! | --- | --- |
//! | money | the next checkpoint, less the books and later changes before it; an imbalance goes to `skipped` |
//! | numbers and status | the first later event that states them, at the latest the checkpoint |
//! | cycles | the next checkpoint, or the first later event that ends or begins one; the event itself as far as it can be read |
//! | idempotency records | Redis' `seen`: entries with this event's sequences, and pending entries that it ended |
//! | payouts, units | the winning records among them, with the readable parts of the event's block and claims |
//! | a step of a payout | the event itself, if its fields can be read |
//! | definitions, epochs, adjustments | what Redis has and neither the ledger nor a later event has |

mod cycles;
mod evidence;
mod redis_side;
mod salvage;

use std::collections::{BTreeMap, BTreeSet};

use jackpot_core::currency::Currency;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::leaving::Took;
use jackpot_core::jackpot::record::{Payout, Record, State};
use jackpot_core::jackpot::reversal;
use jackpot_core::text::printable;
use jackpot_core::wire::{Field, Signed};
use sqlx::query_as;

use super::books::{Books, Generation, Meters, Pending, Terms};
use super::carried::{Carried, CarriedEntry, CarriedPayout, CarriedRecord, CarriedUnit};
use super::event::parse::flat;
use super::event::{ClaimResult, MeterChange, MeterDelta, PayoutStep, TierChanges};
use super::projector::Jackpots;
use crate::view::parse_definition;
use evidence::Evidence;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::projector::rows::Raw;
use jackpot_kernel::ledger::stuck::{Found, Plan, Skips, StuckError, sequence, time};
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::JackpotKeys;
pub use redis_side::Held;
use salvage::Salvage;

/// Stands for the player of a pending entry whose line in the event can't be read.
const UNKNOWN_PLAYER: &str = "unknown";
/// Longest shown id or text, in characters.
const MAX_SHOWN: usize = 200;

impl Skips for Jackpots {
    type Held = Held;

    async fn held(store: &Store, id: &Id) -> Result<Held, StuckError> {
        Held::read(store, &JackpotKeys::new(id)).await
    }

    async fn plan(
        ledger: &Ledger,
        id: &Id,
        books: &Books,
        found: &Found<Self>,
        held: &Held,
        store: &Store,
    ) -> Result<Plan, StuckError> {
        let Some(stuck) = &found.stuck else {
            return Err(StuckError::Refused("nothing is stuck".to_owned()));
        };
        let evidence = Evidence::of(&found.later);
        let raw = stuck.raw.as_ref();
        let last = raw.and_then(|raw| sequence(&raw.stream_id)).or(evidence.sequence);
        let last = last.unwrap_or(books.sequence).max(books.sequence);
        let mut skip = Skip {
            id,
            n: stuck.n,
            at_ms: time(raw, books.at_ms),
            books,
            raw,
            evidence: &evidence,
            held,
            salvage: Salvage::of(raw, last - books.sequence),
            last,
            lines: Vec::new(),
        };
        let records = held
            .records(store, &JackpotKeys::new(id), books.sequence + 1, last)
            .await?;
        let tables = Tables::read(ledger, id).await?;
        let mut carried = skip.records(store, &records).await?;
        skip.wins(&mut carried, &records, &tables)?;
        skip.tables(&mut carried, &tables);
        skip.step(&mut carried);
        skip.state(&mut carried, &records);
        let changes = skip.money(&mut carried.books)?;
        skip.say(&carried, &changes);
        let has_cycles = cycles::has_any(books, &evidence.cycles);
        let cycles = has_cycles.then(|| skip.cycles(&mut carried, &changes));
        let json = serde_json::to_string(&carried).map_err(|error| StuckError::Refused(error.to_string()))?;
        let fields = [
            ("at", skip.at_ms.to_string()),
            ("meters", text_of(&changes)),
            ("applied", String::new()),
            ("history", carried.books.history.clone()),
            ("carried", json),
        ];
        let cycles = cycles.map(|cycles| ("cycles", cycles.text()));
        let fields = fields.into_iter().chain(cycles);
        Ok(Plan {
            fields: fields.map(|(name, value)| (name.to_owned(), value)).collect(),
            lines: skip.lines,
        })
    }
}

/// What the ledger's tables hold.
struct Tables {
    definitions: BTreeMap<u64, bool>,
    epochs: BTreeMap<u64, bool>,
    adjustments: BTreeSet<String>,
    /// Payouts in the ledger: claim order and sequence.
    paid: BTreeSet<(u64, u64)>,
    units: BTreeSet<u64>,
}

impl Tables {
    async fn read(ledger: &Ledger, id: &Id) -> Result<Self, StuckError> {
        let sql = &ledger.sql;
        let of = |text: &'static str| query_as::<_, (i64, i64)>(text).bind(id.as_str());
        let pairs = async |text| sql.reading(of(text).fetch_all(sql.reader())).await;
        let definitions = pairs("SELECT version, kept FROM definitions WHERE kind = 'jackpot' AND id = $1").await?;
        let epochs = pairs("SELECT epoch, closed_n FROM epochs WHERE jackpot_id = $1").await?;
        let paid = pairs("SELECT claim_order, sequence FROM payouts WHERE jackpot_id = $1").await?;
        let units = pairs("SELECT sequence, n FROM coupon_prizes WHERE jackpot_id = $1").await?;
        let adjustments = query_as::<_, (String,)>("SELECT adjustment_id FROM adjustments WHERE jackpot_id = $1")
            .bind(id.as_str())
            .fetch_all(sql.reader());
        let adjustments = sql.reading(adjustments).await?;
        let number = |(a, b): (i64, i64)| (a.unsigned_abs(), b.unsigned_abs());
        Ok(Self {
            definitions: definitions
                .into_iter()
                .map(number)
                .map(|(v, kept)| (v, kept == 1))
                .collect(),
            epochs: epochs
                .into_iter()
                .map(number)
                .map(|(e, closed)| (e, closed > 0))
                .collect(),
            adjustments: adjustments.into_iter().map(|(id,)| id).collect(),
            paid: paid.into_iter().map(number).collect(),
            units: units.into_iter().map(|(sequence, _)| sequence.unsigned_abs()).collect(),
        })
    }
}

/// A skip that is being planned.
struct Skip<'a> {
    id: &'a Id,
    n: u64,
    at_ms: i64,
    /// The books before the event.
    books: &'a Books,
    raw: Option<&'a Raw>,
    evidence: &'a Evidence,
    held: &'a Held,
    salvage: Salvage,
    /// The last sequence that the event assigned.
    last: u64,
    lines: Vec<String>,
}

impl Skip<'_> {
    /// The records of the entries and batches that the event took, and of the entries that it ended.
    async fn records(&self, store: &Store, found: &redis_side::Records) -> Result<Carried, StuckError> {
        let mut carried = Carried::default();
        let record = |id: &str, first, entered_n, text: &str| CarriedRecord {
            id: id.to_owned(),
            first,
            entered_n,
            text: text.to_owned(),
        };
        for (id, text) in found.entries.values().chain(&found.batches) {
            carried.records.push(record(id, true, self.n, text));
        }
        let of_raw = |name: &str| self.raw.and_then(|raw| raw.fields.get(name));
        let reversed = of_raw("seq").filter(|_| of_raw("type") == Some("reverse"));
        let reversed = reversed.and_then(|sequence| Some(reversal::field(sequence.parse().ok()?)));
        let used = of_raw("reversal").filter(|_| of_raw("used").is_some_and(|used| !used.is_empty()));
        let used = used.and_then(|id| Some(reversal::use_field(&Id::parse(id).ok()?)));
        for name in reversed.into_iter().chain(used) {
            let keys = JackpotKeys::new(self.id);
            if let Some(text) = self.held.record(store, &keys, &name).await? {
                carried.records.push(record(&name, true, self.n, &text));
            }
        }
        let gone = self.books.pending.iter();
        let gone = gone.filter(|(sequence, _)| !self.stays_pending(**sequence));
        for (_, pending) in gone {
            let keys = JackpotKeys::new(self.id);
            if let Some(text) = self.held.record(store, &keys, &pending.entry_id).await? {
                // The record's generation is that of the event that took the entry, which is older than this one.
                let entered_n = self.entered_n(&text);
                carried.records.push(record(&pending.entry_id, false, entered_n, &text));
            }
        }
        Ok(carried)
    }

    /// Number of an event of the generation in which an entry was taken. The entry was pending before this event.
    fn entered_n(&self, text: &str) -> u64 {
        let sequence = Record::parse(text).map_or(0, |record| record.sequence);
        let Generation { start, n, .. } = self.books.generation;
        if sequence > start { self.n } else { n }
    }

    /// Whether an entry that was pending before the event is still pending after it.
    fn stays_pending(&self, sequence: u64) -> bool {
        self.held.pending.contains_key(&sequence) || self.evidence.settled.contains_key(&sequence)
    }

    /// Whether this event, and no later one, gave the entry its prize.
    fn won_here(&self, sequence: u64) -> bool {
        !self.evidence.ended.contains(&sequence)
    }

    fn wins(&mut self, carried: &mut Carried, found: &redis_side::Records, tables: &Tables) -> Result<(), StuckError> {
        let known = carried.records.iter().filter(|record| !record.id.ends_with(':'));
        let known: Vec<_> = known
            .filter_map(|carried| Some((carried.id.clone(), Record::parse(&carried.text).ok()?)))
            .collect();
        let mut paid: BTreeMap<u64, CarriedPayout> = BTreeMap::new();
        for (id, record) in &known {
            let sequence = record.sequence;
            match &record.state {
                State::Paid { payout, .. } if self.won_here(sequence) => {
                    paid.insert(sequence, self.payout(id, record, payout)?);
                }
                State::MustHit { hit } if self.won_here(sequence) => {
                    let payout = Payout {
                        rank: 0,
                        tier: hit.tier.clone(),
                        amount: hit.amount,
                        claim_order: hit.claim_order,
                        history: hit.history.clone(),
                    };
                    paid.insert(sequence, self.payout(id, record, &payout)?);
                }
                State::Issued { unit, .. } if self.won_here(sequence) && !tables.units.contains(&sequence) => {
                    let player_id = self.player(sequence, id);
                    carried.units.extend(player_id.map(|player_id| CarriedUnit {
                        sequence,
                        entry_id: id.clone(),
                        player_id,
                        rank: unit.rank,
                        coupon_id: unit.coupon_id.clone(),
                        coupon_sequence: unit.sequence,
                        code: unit.code.clone(),
                    }));
                }
                _ => {}
            }
        }
        // Claims in the event whose records Redis does not have.
        for claim in &self.salvage.claims {
            let ClaimResult::Paid {
                tier,
                amount,
                claim_order,
                pool_before,
            } = &claim.result
            else {
                continue;
            };
            let Some(entry_id) = self.entry_id(claim.sequence, found) else {
                continue;
            };
            paid.entry(claim.sequence).or_insert_with(|| CarriedPayout {
                sequence: claim.sequence,
                player_id: self.player(claim.sequence, &entry_id),
                entry_id,
                rank: claim.rank,
                tier: tier.clone(),
                amount: *amount,
                claim_order: *claim_order,
                pool_before: Some(*pool_before),
            });
        }
        let is_there = |paid: &CarriedPayout| {
            tables
                .paid
                .iter()
                .any(|(order, sequence)| *order == paid.claim_order || *sequence == paid.sequence)
        };
        carried.paid = paid.into_values().filter(|paid| !is_there(paid)).collect();
        carried.paid.sort_by_key(|paid| paid.claim_order);
        let entries = (self.books.sequence + 1..=self.last).filter_map(|sequence| {
            let entry_id = self.entry_id(sequence, found)?;
            let record = known.iter().find(|(id, _)| *id == entry_id).map(|(_, record)| record);
            let state = record.map(|record| &record.state);
            let pending = matches!(state, Some(State::Pending { .. })) || self.evidence.settled.contains_key(&sequence);
            let rank = match state {
                Some(State::Paid { payout, .. }) if !pending => payout.rank,
                _ => 0,
            };
            Some(CarriedEntry {
                sequence,
                sent: self.sent(&entry_id, record)?,
                entry_id,
                rank,
                settled: !pending,
            })
        });
        carried.entries = entries.collect();
        Ok(())
    }

    fn payout(&self, id: &str, record: &Record, payout: &Payout) -> Result<CarriedPayout, StuckError> {
        let sequence = record.sequence;
        let claims = self.salvage.claims.iter();
        let told = claims
            .filter(|claim| claim.sequence == sequence)
            .find_map(|claim| match claim.result {
                ClaimResult::Paid { pool_before, .. } => Some(pool_before),
                _ => None,
            });
        let pool_before = match told {
            Some(pool) => Some(pool),
            // This claim is the only one of its event: the pool has not moved since the previous event.
            None if sequence <= self.books.sequence => self
                .books
                .meters
                .get(&payout.tier)
                .and_then(|meters| u64::try_from(meters.pool).ok()),
            // The pool right after the entry's contribution, which its record has.
            None => self.pool_of(record, &payout.tier)?,
        };
        let pool_before = pool_before.filter(|pool| *pool >= payout.amount);
        Ok(CarriedPayout {
            sequence,
            entry_id: id.to_owned(),
            player_id: self.player(sequence, id),
            rank: payout.rank,
            tier: payout.tier.clone(),
            amount: payout.amount,
            claim_order: payout.claim_order,
            pool_before,
        })
    }

    /// The pool right after an entry's contribution.
    fn pool_of(&self, record: &Record, tier: &Id) -> Result<Option<u64>, StuckError> {
        let Some(json) = self.held.definitions.get(&record.version) else {
            return Ok(None);
        };
        let definition = parse_definition(self.id, json).map_err(|error| StuckError::Redis(error.to_string()))?;
        let place = definition.tiers().iter().position(|own| own.tier == *tier);
        let contributed = place.and_then(|place| record.contributions.get(place));
        Ok(contributed.map(|contributed| contributed.pool))
    }

    fn entry_id(&self, sequence: u64, found: &redis_side::Records) -> Option<String> {
        if let Some(pending) = self.books.pending.get(&sequence) {
            return Some(pending.entry_id.clone());
        }
        let place = sequence.checked_sub(self.books.sequence + 1)?;
        let by_place = || self.salvage.ids.get(usize::try_from(place).ok()?).cloned();
        found.entries.get(&sequence).map(|(id, _)| id.clone()).or_else(by_place)
    }

    fn player(&self, sequence: u64, entry_id: &str) -> Option<PersonId> {
        let before = self
            .books
            .pending
            .get(&sequence)
            .map(|pending| pending.player_id.clone());
        before.or_else(|| self.salvage.sent.get(entry_id).map(|sent| sent.player.clone()))
    }

    fn source(&self, sequence: u64, entry_id: &str) -> Option<Id> {
        let before = self.books.pending.get(&sequence);
        match before {
            Some(pending) => pending.source_id.clone(),
            None => self.salvage.sent.get(entry_id)?.source.clone(),
        }
    }

    fn sent(&self, entry_id: &str, record: Option<&Record>) -> Option<String> {
        if let Some(State::Pending { sent, .. }) = record.map(|record| &record.state) {
            return Some(sent.to_text());
        }
        let sent = self.salvage.sent.get(entry_id)?;
        // A line that was changed is not what the client sent.
        let right = record.is_none_or(|record| record.fingerprint == sent.fingerprint());
        right.then(|| sent.to_text())
    }

    /// Carries on definitions, epochs and adjustments that Redis has and neither the ledger nor a later event has.
    fn tables(&self, carried: &mut Carried, tables: &Tables) {
        let (held, later) = (self.held, self.evidence);
        let new = held.definitions.iter();
        let new =
            new.filter(|(version, _)| !tables.definitions.contains_key(version) && !later.defined.contains(version));
        carried.definitions = new.map(|(version, json)| (*version, json.clone())).collect();
        let dropped = tables
            .definitions
            .iter()
            .filter(|(_, kept)| **kept)
            .map(|(version, _)| *version);
        carried.dropped_versions = dropped
            .filter(|version| !held.definitions.contains_key(version) && !later.dropped.contains(version))
            .collect();
        let opened = held.epochs.iter();
        let opened = opened.filter(|(epoch, _)| !tables.epochs.contains_key(epoch) && !later.opened.contains(epoch));
        carried.epochs = opened
            .map(|(epoch, held)| (*epoch, held.opening.clone(), held.opened_ms))
            .collect();
        // Each rotation closes the epoch before it, and the end of the jackpot its last one.
        let next_opens = |epoch| later.closed == Some(epoch) || later.opened.iter().any(|opened| *opened > epoch);
        let closed = held.epochs.iter().filter(|(_, held)| held.closed_ms.is_some());
        let closed = closed.filter(|(epoch, _)| tables.epochs.get(epoch) == Some(&false));
        let closed = closed.filter(|(epoch, _)| !carried.epochs.is_empty() || !next_opens(**epoch));
        carried.closed_epochs = closed
            .map(|(epoch, held)| (*epoch, held.closed_ms.unwrap_or(self.at_ms)))
            .collect();
        let adjusted = held.adjustments.iter();
        let adjusted = adjusted.filter(|(id, _)| !tables.adjustments.contains(*id) && !later.adjusted.contains(*id));
        carried.adjustments = adjusted
            .map(|(id, (digest, at_ms))| (id.clone(), digest.clone(), *at_ms))
            .collect();
    }

    /// Carries on the step of a payout, if it can be read. Redis has only its number.
    fn step(&self, carried: &mut Carried) {
        let fields = self.raw.map(|raw| &raw.fields);
        let fields = fields.filter(|fields| PayoutStep::of_fields(fields).is_some());
        carried.step = fields.map(|fields| {
            let all = fields.iter();
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        });
    }

    /// Carries on the books after the event, except for the money.
    fn state(&self, carried: &mut Carried, found: &redis_side::Records) {
        let (told, held) = (self.evidence, self.held);
        let mut books = self.books.clone();
        (books.n, books.at_ms, books.sequence) = (self.n, self.at_ms, self.last);
        books.status = told.status.or(books.status);
        books.version = told.version.unwrap_or(books.version);
        books.waiting = told.waiting.unwrap_or(books.waiting);
        books.last_version = told
            .last_version
            .or(held.number("last_version"))
            .unwrap_or(books.last_version);
        if let Some(currency) = held.state.get("currency") {
            books.currency = Currency::parse(currency).ok().or(books.currency);
        }
        books.claim_order = told.claim_order.unwrap_or(books.claim_order);
        if let Some(epoch) = told.epoch.filter(|epoch| *epoch != books.epoch) {
            books.epoch = epoch;
            let opening = held.epochs.get(&epoch).map(|held| held.opening.clone());
            books.opening = opening.unwrap_or(books.opening);
        }
        books.terms = self.terms(Some(books.version));
        books.next_terms = self.terms(books.waiting);
        books.retention_s = told.retention_s.unwrap_or(books.retention_s);
        if let Some(history) = &told.history {
            books.history.clone_from(history);
        }
        if let Some(puts) = held.state.get("puts").filter(|_| told.defined.is_empty()) {
            books.puts.clone_from(puts);
        }
        // A later PUT or approval changes the limit: then the books keep what they have.
        if told.defined.is_empty() && !told.limited {
            books.hold = held.state.get("hold").cloned();
        }
        books.took = self.took();
        self.generation(&mut books);
        let taken = carried.records.iter().filter(|record| record.first).count() as u64;
        self.counts(&mut books, taken);
        self.pending(&mut books, found);
        carried.books = books;
    }

    /// What owners had taken out right after the event: of what Redis has, the rows of later events are not yet in the
    /// books.
    fn took(&self) -> String {
        let held = self.held.state.get("took").and_then(|text| Vec::<Took>::read(text));
        let mut rows = held.unwrap_or_default();
        rows.retain(|row| !self.evidence.took.contains(row));
        rows.text()
    }

    /// Opens the generation of a rotation that can no longer be read. The rotation dropped the older generation.
    fn generation(&self, books: &mut Books) {
        let letter = self.held.state.get("gen").cloned().unwrap_or_default();
        let start = self.held.number("gen_start");
        if self.evidence.rotated
            || letter.is_empty()
            || (letter == books.generation.letter && start == Some(books.generation.start))
        {
            return;
        }
        books.older_n = books.generation.n;
        books.older_records = std::mem::take(&mut books.records);
        books.generation = Generation {
            letter,
            start: start.unwrap_or(books.sequence),
            opened_ms: self
                .held
                .number("gen_opened")
                .and_then(|ms| i64::try_from(ms).ok())
                .unwrap_or(self.at_ms),
            version: self.held.number("gen_version").unwrap_or(books.version),
            n: self.n,
        };
    }

    /// The parts of a definition that decide where money goes.
    fn terms(&self, version: Option<u64>) -> Terms {
        let Some(version) = version else {
            return Terms::default();
        };
        let before = self.books;
        if version == before.version {
            return before.terms.clone();
        }
        if Some(version) == before.waiting {
            return before.next_terms.clone();
        }
        self.evidence.terms.get(&version).cloned().unwrap_or_default()
    }

    /// Sets how many definitions, adjustments and records Redis keeps.
    fn counts(&self, books: &mut Books, taken: u64) {
        let Some((checkpoint, _, later)) = &self.evidence.checkpoint else {
            return;
        };
        let held = |name: &str| checkpoint.held.get(name).and_then(|text| text.parse::<i64>().ok());
        let less = |name: &str, later: i64| held(name).and_then(|held| u64::try_from(held - later).ok());
        books.definitions = less("definitions", later.definitions).unwrap_or(books.definitions);
        books.adjustments = less("adjustments", later.adjustments).unwrap_or(books.adjustments);
        books.records.entries += taken;
        let newer = if books.generation.letter == "b" {
            "seen_b"
        } else {
            "seen_a"
        };
        if let Some(all) = later.records.and_then(|later| less(newer, later)) {
            books.records.calls = all.saturating_sub(books.records.entries);
        }
    }

    fn pending(&self, books: &mut Books, found: &redis_side::Records) {
        books.pending.retain(|sequence, _| self.stays_pending(*sequence));
        let range = self.books.sequence + 1..self.last + 1;
        let held = self
            .held
            .pending
            .range(range.clone())
            .map(|(sequence, id)| (*sequence, id));
        let later = self.evidence.settled.range(range).map(|(sequence, id)| (*sequence, id));
        let unknown = || PersonId::parse(UNKNOWN_PLAYER).ok();
        for (sequence, entry_id) in held.chain(later) {
            let record = found
                .entries
                .get(&sequence)
                .and_then(|(_, text)| Record::parse(text).ok());
            let (player, entered_ms) = match record.as_ref().map(|record| &record.state) {
                Some(State::Pending { entered_ms, sent, .. }) => (Some(sent.player.clone()), *entered_ms),
                _ => (self.player(sequence, entry_id), self.at_ms),
            };
            let Some(player_id) = player.or_else(unknown) else {
                continue;
            };
            let one = Pending {
                entry_id: entry_id.clone(),
                player_id,
                epoch: record.map_or(books.epoch, |record| record.epoch),
                entered_ms,
                source_id: self.source(sequence, entry_id),
            };
            books.pending.insert(sequence, one);
        }
    }

    /// The changes that make the books agree with Redis at the next checkpoint.
    fn money(&self, books: &mut Books) -> Result<Vec<MeterChange>, StuckError> {
        let Some((checkpoint, later, _)) = &self.evidence.checkpoint else {
            let text = "no later checkpoint can be read: there is nothing to compare the money with";
            return Err(StuckError::Refused(text.to_owned()));
        };
        let own = self.raw.and_then(|raw| Vec::read(raw.fields.get("meters")?).map(flat));
        let own = own.unwrap_or_default();
        let mut tiers: BTreeSet<Id> = books.meters.keys().cloned().collect();
        let shown = checkpoint
            .meters
            .keys()
            .filter_map(|name| Id::parse(name.split_once(':')?.0).ok());
        tiers.extend(shown);
        let mut changes = Vec::new();
        for tier in tiers {
            let mut after = books.meters.get(&tier).copied().unwrap_or_default();
            let in_force = checkpoint.meters.contains_key(&format!("{tier}:pool"));
            for (meter, before) in after.all().into_iter().chain(after.outside()) {
                let shown = checkpoint.meters.get(&format!("{tier}:{meter}"));
                // A checkpoint leaves the meters outside the packed ones out while all are 0.
                let shown = shown.or(in_force.then_some(&0));
                let delta = match shown {
                    Some(shown) => shown - later.get(&(tier.clone(), meter.to_owned())).unwrap_or(&0) - before,
                    // The tier is not in force, so only the event itself can say.
                    None => own
                        .iter()
                        .filter(|own| own.tier == tier && *own.meter == *meter)
                        .map(|own| own.delta)
                        .sum(),
                };
                add(&mut changes, &mut after, &tier, meter, delta)?;
            }
            let made = -after.difference_micro();
            let (units, micro) = (made.div_euclid(1_000_000), made.rem_euclid(1_000_000));
            let whole = |amount: i128| {
                i64::try_from(amount).map_err(|_| StuckError::Refused("an amount beyond all bounds".to_owned()))
            };
            add(&mut changes, &mut after, &tier, "skipped", whole(units)?)?;
            add(&mut changes, &mut after, &tier, "skipped_micro", whole(micro)?)?;
            if after != Meters::default() || books.meters.contains_key(&tier) {
                books.meters.insert(tier, after);
            }
        }
        Ok(changes)
    }

    /// Explains the skip to operators.
    fn say(&mut self, carried: &Carried, changes: &[MeterChange]) {
        let took = self.last - self.books.sequence;
        let mut lines = vec![format!(
            "entries taken: {took}; idempotency records carried on: {}",
            carried.records.len()
        )];
        if changes.is_empty() {
            lines.push("money: none moved".to_owned());
        }
        for change in changes {
            lines.push(format!("money: {} {} {:+}", change.tier, change.meter, change.delta));
        }
        for paid in &carried.paid {
            let to = paid
                .player_id
                .as_ref()
                .map_or("a player that can't be read", PersonId::as_str);
            let receipt = if paid.player_id.is_some() && paid.pool_before.is_some() {
                "with a receipt"
            } else {
                "WITHOUT a receipt; its record stays"
            };
            lines.push(format!(
                "paid: {} from '{}' to {to}, entry '{}', claim {}, {receipt}",
                paid.amount,
                paid.tier,
                printable(&paid.entry_id, MAX_SHOWN),
                paid.claim_order
            ));
        }
        for unit in &carried.units {
            lines.push(format!(
                "issued: unit {} of coupon '{}' to {}, entry '{}'",
                unit.coupon_sequence,
                unit.coupon_id,
                unit.player_id,
                printable(&unit.entry_id, MAX_SHOWN)
            ));
        }
        let pending = carried.books.pending.range(self.books.sequence + 1..).count();
        if pending > 0 {
            lines.push(format!("entries of it that are still pending: {pending}"));
        }
        for (what, count) in [
            ("definitions", carried.definitions.len()),
            ("epochs", carried.epochs.len()),
            ("adjustments", carried.adjustments.len()),
        ] {
            if count > 0 {
                lines.push(format!("{what} carried on: {count}"));
            }
        }
        let payout = carried.step.as_ref().and_then(|fields| fields.get("payout"));
        if let Some(payout) = payout {
            lines.push(format!("step of payout '{}' carried on", printable(payout, MAX_SHOWN)));
        } else if let Some(payout) = self.held.stepped.get(&self.n) {
            lines.push(format!(
                "a step of payout '{}' can't be read: the payout STAYS as it was; if `voided` moved, it was taken back, so \
                 do not void it again",
                printable(payout, MAX_SHOWN)
            ));
        }
        if self.evidence.unreadable > 0 {
            lines.push(format!(
                "later events that can't be read either: {}",
                self.evidence.unreadable
            ));
        }
        self.lines = lines;
    }
}

/// Applies a change to the meters, and adds it to the list.
fn add(
    changes: &mut Vec<MeterChange>,
    after: &mut Meters,
    tier: &Id,
    meter: &str,
    delta: i64,
) -> Result<(), StuckError> {
    if delta == 0 {
        return Ok(());
    }
    let beyond = || StuckError::Refused("a meter beyond all bounds".to_owned());
    let value = after.named(meter).ok_or_else(beyond)?;
    *value = value.checked_add(delta).ok_or_else(beyond)?;
    changes.push(MeterChange {
        tier: tier.clone(),
        meter: meter.into(),
        delta,
    });
    Ok(())
}

/// The text that scripts write: `tier meter:delta ...;` for each tier.
fn text_of(changes: &[MeterChange]) -> String {
    let delta = |change: &MeterChange| MeterDelta {
        meter: change.meter.clone(),
        delta: Signed(change.delta),
    };
    let rows = changes.chunk_by(|a, b| a.tier == b.tier).map(|row| TierChanges {
        tier: row[0].tier.clone(),
        changes: row.iter().map(delta).collect(),
    });
    rows.collect::<Vec<_>>().text()
}
