//! What a skip carries on from a coupon's event.
//!
//! | what | source |
//! | --- | --- |
//! | counters | the next checkpoint, less the changes of later events before it |
//! | issues, voids, refusals, queue, dead letters | Redis' records that neither the ledger nor another event has |
//! | the definition | the event itself, or Redis |

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jackpot_core::ids::Id;
use jackpot_core::text::printable;
use sqlx::{Row, query};

use super::books::Books;
use super::carried::{CarriedCoupon, CarriedUse};
use super::event::{Event, Kind, Line, What};
use super::line::Waiting;
use super::projector::Coupons;
use crate::definition::Definition;
use crate::metadata::Asker;
use crate::record::{Record, State, Take};
use jackpot_api::coupon::Status;
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::projector::load::damaged;
use jackpot_kernel::ledger::projector::rows::Raw;
use jackpot_kernel::ledger::stored::{self, PageSize};
use jackpot_kernel::ledger::stuck::held::{hash, scan};
use jackpot_kernel::ledger::stuck::{Found, Plan, Skips, StuckError, sequence, time};
use jackpot_kernel::store::Store;
use jackpot_kernel::store::keys::CouponKeys;
use jackpot_kernel::subject::kinds::COUPON;

/// Longest shown id, in characters.
const MAX_SHOWN: usize = 200;
/// Most issues that are listed one by one.
const MAX_LISTED: usize = 1_000;

/// What Redis holds of a coupon, read before a checkpoint.
#[derive(Debug)]
pub struct Held {
    state: HashMap<String, String>,
    records: BTreeMap<String, Record>,
}

impl Skips for Coupons {
    type Held = Held;

    async fn held(store: &Store, id: &Id) -> Result<Held, StuckError> {
        let keys = CouponKeys::new(id);
        let state = hash(store, &keys.state).await?;
        let mut records = BTreeMap::new();
        scan(store, &keys.requests, |request, text| {
            records.extend(Record::parse(&text).ok().map(|record| (request, record)));
        })
        .await?;
        Ok(Held { state, records })
    }

    async fn plan(
        ledger: &Ledger,
        id: &Id,
        books: &Books,
        found: &Found<Self>,
        held: &Held,
        _: &Store,
    ) -> Result<Plan, StuckError> {
        let Some(stuck) = &found.stuck else {
            return Err(StuckError::Refused("nothing is stuck".to_owned()));
        };
        let known = InLedger::read(ledger, id, found).await?;
        let skip = Skip {
            books,
            raw: stuck.raw.as_ref(),
            held,
            evidence: Evidence::of(&found.before, &found.later),
            known,
            at_ms: time(stuck.raw.as_ref(), books.at_ms),
        };
        let mut carried = skip.records();
        skip.books(stuck.n, &mut carried)?;
        let json = serde_json::to_string(&carried).map_err(|error| StuckError::Refused(error.to_string()))?;
        let fields = [
            ("at", skip.at_ms.to_string()),
            ("history", carried.books.history.clone()),
            ("carried", json),
        ];
        Ok(Plan {
            fields: fields.map(|(name, value)| (name.to_owned(), value)).into(),
            lines: Skip::say(&carried),
        })
    }
}

/// What the ledger holds.
#[derive(Default)]
struct InLedger {
    /// Whether each issue is voided, by its sequence.
    issued: BTreeMap<u64, bool>,
    /// Issues that are redeemed, by sequence.
    redeemed: BTreeSet<u64>,
    refused: BTreeSet<String>,
    waiting: Waiting,
}

impl InLedger {
    async fn read(ledger: &Ledger, id: &Id, found: &Found<Coupons>) -> Result<Self, StuckError> {
        let sql = &ledger.sql;
        let mut known = Self::default();
        let issues = query("SELECT sequence, voided_n FROM coupon_issues WHERE coupon_id = $1").bind(id.as_str());
        for row in sql.reading(issues.fetch_all(sql.reader())).await? {
            let (sequence, voided): (i64, i64) = (row.try_get("sequence")?, row.try_get("voided_n")?);
            known.issued.insert(sequence.unsigned_abs(), voided > 0);
        }
        let used = query("SELECT sequence FROM coupon_redemptions WHERE coupon_id = $1").bind(id.as_str());
        for row in sql.reading(used.fetch_all(sql.reader())).await? {
            known.redeemed.insert(row.try_get::<i64, _>("sequence")?.unsigned_abs());
        }
        let mut after = 0;
        loop {
            let events = stored::page(sql, COUPON, id, after, u64::MAX, PageSize::REPLAY).await?;
            let Some(last) = events.last() else { break };
            after = last.n;
            for row in &events {
                let unreadable = |_| damaged::<Coupons>(id, &format!("an event up to {after} can't be read"));
                let event = row.fields().and_then(|fields| Event::parse(&fields));
                known.add(&event.map_err(unreadable)?)?;
            }
        }
        for raw in &found.before {
            if let Ok(event) = Event::parse(&raw.fields) {
                known.add(&event)?;
            }
        }
        Ok(known)
    }

    fn add(&mut self, event: &Event) -> Result<(), StuckError> {
        let refused = self.waiting.apply(event);
        let refused = refused.map_err(|error| StuckError::Refused(error.to_string()))?;
        self.refused.extend(refused.into_iter().map(|(request, _)| request));
        Ok(())
    }
}

/// What the other waiting events say.
#[derive(Default)]
struct Evidence {
    status: Option<Status>,
    version: Option<u64>,
    /// Stock and JSON of the next definition.
    next_definition: Option<(u64, String)>,
    /// Requests that these events decided, queued, gave up, voided or redeemed.
    decided: BTreeSet<String>,
    queued: BTreeSet<String>,
    dead: BTreeSet<String>,
    voided: BTreeSet<String>,
    redeemed: BTreeSet<String>,
    /// Requests that leave the queue or the dead letters after the stuck event without having joined after it. The
    /// value is the user, if an event names one.
    leave: BTreeMap<String, Option<Asker>>,
    retired: bool,
    checkpoint: Option<(Shown, Moved)>,
    history: Option<String>,
    retention_s: Option<u64>,
    moved: Moved,
}

/// What a checkpoint shows.
struct Shown(BTreeMap<String, String>);

impl Shown {
    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    fn status(&self) -> Option<Status> {
        Status::parse(self.0.get("status")?)
    }
}

/// Changes of the counters.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    issued: i128,
    voided: i128,
    redeemed: i128,
    arrivals: i128,
    queued: i128,
    dead: i128,
    users: i128,
    defined: u64,
}

impl Evidence {
    fn of(before: &[Raw], later: &[Raw]) -> Self {
        let mut evidence = Self::default();
        for raw in before {
            if let Ok(Event {
                kind: Kind::Issue { lines, .. } | Kind::Serve { lines, .. },
                ..
            }) = Event::parse(&raw.fields)
            {
                evidence.decided.extend(lines.into_iter().map(|line| line.request));
            }
        }
        for event in later.iter().filter_map(|raw| Event::parse(&raw.fields).ok()) {
            evidence.add(event);
        }
        evidence
    }

    fn add(&mut self, event: Event) {
        self.history.get_or_insert(event.history);
        match event.kind {
            Kind::Define(define) => {
                self.version.get_or_insert(define.version.saturating_sub(1));
                self.next_definition
                    .get_or_insert((define.definition.stock(), define.put.json));
                self.moved.defined += 1;
            }
            Kind::Issue { lines, users } => {
                self.moved.users += i128::from(users.unwrap_or_default());
                for line in lines {
                    self.line(line);
                }
            }
            Kind::Serve { lines, users } => {
                self.moved.users += i128::from(users.unwrap_or_default());
                for line in lines {
                    self.moved.queued -= 1;
                    self.leaves(&line.request, Some(line.user.clone()));
                    self.line(line);
                }
            }
            Kind::Redrive { request, .. } => {
                self.moved.dead -= 1;
                self.moved.queued += 1;
                self.leaves(&request, None);
                self.queued.insert(request);
            }
            Kind::Void { unit, last_of_user } => {
                self.moved.users -= i128::from(last_of_user.0);
                self.moved.voided += 1;
                self.voided.insert(unit.request);
            }
            Kind::Redeem { unit, .. } => {
                self.moved.redeemed += 1;
                self.redeemed.insert(unit.request);
            }
            Kind::Status(change) => _ = self.status.get_or_insert(change.before),
            Kind::Retire { .. } => self.retired = true,
            Kind::Retention { before, .. } => _ = self.retention_s.get_or_insert(before),
            Kind::Checkpoint(checkpoint) => {
                let shown = Shown(checkpoint.held);
                self.status = self.status.or_else(|| shown.status());
                if self.moved.defined == 0 {
                    self.version = self.version.or_else(|| shown.number("version"));
                }
                self.retention_s = self.retention_s.or_else(|| shown.number("retention"));
                self.checkpoint.get_or_insert((shown, self.moved));
            }
            Kind::Emergency(_) | Kind::Restore { .. } | Kind::Skipped(_) => {}
        }
    }

    fn leaves(&mut self, request: &str, user: Option<Asker>) {
        if !self.queued.contains(request) && !self.dead.contains(request) {
            let known = self.leave.entry(request.to_owned()).or_default();
            *known = known.take().or(user);
        }
    }

    fn line(&mut self, line: Line) {
        match line.what {
            What::Queued { .. } => {
                self.moved.arrivals += 1;
                self.moved.queued += 1;
                self.queued.insert(line.request);
            }
            What::Dead { .. } => {
                self.moved.dead += 1;
                self.dead.insert(line.request);
            }
            What::Issued { .. } => {
                self.moved.issued += 1;
                self.decided.insert(line.request);
            }
            _ => _ = self.decided.insert(line.request),
        }
    }
}

/// A skip that is being planned.
struct Skip<'a> {
    books: &'a Books,
    raw: Option<&'a Raw>,
    held: &'a Held,
    evidence: Evidence,
    known: InLedger,
    at_ms: i64,
}

impl Skip<'_> {
    /// Records of requests in Redis that neither the ledger nor another event has.
    fn records(&self) -> CarriedCoupon {
        let (known, evidence) = (&self.known, &self.evidence);
        let mut carried = CarriedCoupon::default();
        for (request, record) in &self.held.records {
            let waits = known.waiting.open.get(request).map(|record| &record.state);
            let new = match &record.state {
                State::Issued(issue) | State::Voided(issue, _) | State::Redeemed(issue, _) => {
                    if let State::Redeemed(_, redemption) = &record.state
                        && !evidence.redeemed.contains(request)
                        && !known.redeemed.contains(&issue.sequence)
                    {
                        let (request, user) = (request.clone(), record.user.user.clone());
                        let redemption = redemption.clone();
                        let one = CarriedUse {
                            request,
                            user,
                            redemption,
                        };
                        carried.redeemed.insert(issue.sequence, one);
                    }
                    let voided = matches!(record.state, State::Voided(..)) && !evidence.voided.contains(request);
                    if voided && known.issued.get(&issue.sequence) != Some(&true) {
                        let who = (request.clone(), record.user.user.clone());
                        carried.voided.insert(issue.sequence, who);
                    }
                    !known.issued.contains_key(&issue.sequence) && !evidence.decided.contains(request)
                }
                State::AlreadyIssued { .. }
                | State::OutOfStock { .. }
                | State::NotOpen { .. }
                | State::Closed { .. } => !known.refused.contains(request) && !evidence.decided.contains(request),
                State::Queued { .. } => {
                    !matches!(waits, Some(State::Queued { .. })) && !evidence.queued.contains(request)
                }
                State::Dead { .. } => !matches!(waits, Some(State::Dead { .. })) && !evidence.dead.contains(request),
            };
            if new {
                carried.records.insert(request.clone(), record.to_string());
            }
        }
        // Later events go on with these requests, so this event has put them into the queue.
        let mut arrival = self.books.arrivals;
        let gone = evidence.leave.iter();
        for (request, user) in gone.filter(|(request, _)| !known.waiting.open.contains_key(*request)) {
            let held = self.held.records.get(request).map(|record| record.user.clone());
            let Some(user) = user.clone().or(held) else { continue };
            arrival += 1;
            let state = State::Queued {
                arrival,
                attempts: 0,
                take: Take,
                at_ms: self.at_ms,
            };
            carried
                .records
                .insert(request.clone(), Record { user, state }.to_string());
        }
        // If another waiting event made the issue, this event did not void it.
        carried.voided.retain(|sequence, (request, _)| {
            known.issued.contains_key(sequence) || carried.records.contains_key(request)
        });
        carried.redeemed.retain(|sequence, used| {
            known.issued.contains_key(sequence) || carried.records.contains_key(&used.request)
        });
        carried
    }

    fn books(&self, n: u64, carried: &mut CarriedCoupon) -> Result<(), StuckError> {
        let Some((shown, moved)) = &self.evidence.checkpoint else {
            let text = "no later checkpoint can be read: there is nothing to compare the counters with";
            return Err(StuckError::Refused(text.to_owned()));
        };
        let less = |name: &str, moved: i128| {
            let number = shown.number(name).map(|shown| i128::from(shown) - moved);
            let wrong = || StuckError::Refused(format!("the checkpoint's {name} can't be right"));
            number.and_then(|number| u64::try_from(number).ok()).ok_or_else(wrong)
        };
        let mut books = self.books.clone();
        (books.n, books.at_ms) = (n, self.at_ms);
        let by_id = self.raw.and_then(|raw| sequence(&raw.stream_id));
        books.sequence = by_id.map_or_else(|| less("seq", moved.issued), Ok)?;
        books.voided = less("voided", moved.voided)?;
        // A checkpoint of a coupon without redemptions has no such number.
        books.redeemed = match shown.number("redeemed") {
            None if moved.redeemed == 0 => 0,
            _ => less("redeemed", moved.redeemed)?,
        };
        books.arrivals = less("arrivals", moved.arrivals)?;
        books.queued = less("queued", moved.queued)?;
        books.dead = less("dead", moved.dead)?;
        books.users = less("users", moved.users)?;
        books.retention_s = self.evidence.retention_s.unwrap_or(books.retention_s);
        if let Some(history) = &self.evidence.history {
            books.history.clone_from(history);
        }
        let was = books.held.or(books.status);
        books.status = self.evidence.status.or(books.status);
        let interrupts = was.filter(|was| matches!(was, Status::Paused | Status::Closed));
        books.held = interrupts.filter(|_| books.status == Some(Status::Suspended));
        let gone = shown.number("requests") == Some(0) && shown.status() == Some(Status::Ended);
        if gone && books.requests() > 0 && !self.evidence.retired {
            (books.retired, books.queued, books.dead, books.users) = (true, 0, 0, 0);
            carried.records.clear();
        }
        for text in carried.records.values() {
            match Record::parse(text).map(|record| record.state) {
                Ok(State::AlreadyIssued { .. }) => books.refused.already_issued += 1,
                Ok(State::OutOfStock { .. }) => books.refused.out_of_stock += 1,
                Ok(State::NotOpen { .. }) => books.refused.not_open += 1,
                Ok(State::Closed { .. }) => books.refused.closed += 1,
                _ => {}
            }
        }
        let version = self.evidence.version.unwrap_or(books.version);
        if version != books.version {
            let json = self.definition(shown, version)?;
            let definition = Definition::from_json(&json).map_err(|error| StuckError::Refused(error.to_string()))?;
            books.version = version;
            books.stock = definition.stock();
            books.definition.clone_from(&json);
            carried.definitions.push((version, json));
            if let Some(puts) = self.held.state.get("puts").filter(|_| moved.defined == 0) {
                books.puts.clone_from(puts);
            }
        }
        carried.books = books;
        Ok(())
    }

    /// The definition that the event put.
    fn definition(&self, shown: &Shown, version: u64) -> Result<String, StuckError> {
        let own = self.raw.and_then(|raw| raw.fields.get("json"));
        let own = own.filter(|json| Definition::from_json(json).is_ok());
        let held = self
            .held
            .state
            .get("json")
            .filter(|_| shown.number("version") == Some(version));
        if let Some(json) = own.or(held.map(String::as_str)) {
            return Ok(json.to_owned());
        }
        // Another definition replaced it. Of its two neighbours, the one with the larger stock fits what was issued
        // under it.
        let before = Definition::from_json(&self.books.definition)
            .ok()
            .map(|own| (own.stock(), &self.books.definition));
        let next = self
            .evidence
            .next_definition
            .as_ref()
            .map(|(stock, json)| (*stock, json));
        let larger = before.into_iter().chain(next).max_by_key(|(stock, _)| *stock);
        let json = larger.map(|(_, json)| json.clone());
        json.ok_or_else(|| StuckError::Refused(format!("definition {version} can't be read anywhere")))
    }

    fn say(carried: &CarriedCoupon) -> Vec<String> {
        let mut lines = vec![format!("records of requests carried on: {}", carried.records.len())];
        let issued = carried
            .records
            .iter()
            .filter_map(|(request, text)| match Record::parse(text).ok()? {
                Record {
                    user,
                    state: State::Issued(issue) | State::Voided(issue, _) | State::Redeemed(issue, _),
                } => Some(format!(
                    "issued: unit {} to {user}, request '{}'",
                    issue.sequence,
                    printable(request, MAX_SHOWN)
                )),
                _ => None,
            });
        lines.extend(issued.take(MAX_LISTED));
        lines.extend(carried.voided.iter().map(|(sequence, (request, _))| {
            format!("voided: unit {sequence}, request '{}'", printable(request, MAX_SHOWN))
        }));
        lines.extend(carried.redeemed.iter().map(|(sequence, used)| {
            format!(
                "redeemed: unit {sequence}, request '{}'",
                printable(&used.request, MAX_SHOWN)
            )
        }));
        let books = &carried.books;
        lines.push(format!(
            "then issued {}, voided {}, queued {}, dead {}, of a stock of {}",
            books.sequence, books.voided, books.queued, books.dead, books.stock
        ));
        lines
    }
}
