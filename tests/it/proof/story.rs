//! A jackpot that was played on a real Redis through the real scripts, and its export.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jackpot::jackpot::ledger::event::{Claim, ClaimResult, Event, Kind};
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::play::{By, Play};
use jackpot::jackpot::scripts::EnterEntry;
use jackpot::proof::format::FORMAT;
use jackpot::proof::verify::{Report, Trusted, verify};
use jackpot::signing::SigningKeys;
use jackpot::telemetry::Metrics;
use jackpot_api::jackpot::Status;
use jackpot_core::chain::{self, ChainHash};
use jackpot_core::clock::rfc3339;
use jackpot_core::currency::Currency;
use jackpot_core::ids::{ClientSeed, Id, PersonId};
use jackpot_core::jackpot::cycle::{CycleChange, CycleSeed};
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;
use jackpot_core::receipt::{Head, UnsignedReceipt};
use jackpot_core::signing::Jwks;
use sha2::{Digest, Sha256};

use crate::jackpot::fixture::{JackpotFixture, operator, rank, sent, tier};
use crate::jackpot::prize_coupon::define_coupon;
use crate::support::fixture::Fields;
use crate::support::prelude::*;

pub const LEDGER: &str = "0c9a7c1e-2f0d-4d8e-9c1a-6f5b8a3d2e10";

/// The ledger of a jackpot as lines of an export.
#[derive(Clone)]
pub struct Story {
    pub id: Id,
    pub keys: Arc<SigningKeys>,
    pub lines: Vec<Value>,
}

/// Units of the coupon: far fewer than are drawn, so that some are refused in every story.
const STOCK: u64 = 5;

/// Wins of every kind are likely, and so are refusals.
fn odds(cap: u64, coupon: &str) -> Value {
    json!({"contribution": {"rate_ppm": 15_001}, "max_redraws": 2,
        "tiers": [tier("grand", 700_000, &json!({"min_payout": 100, "seed": 20, "reserve_ppm": 100_000, "cap": cap})),
                  tier("mini", 300_000, &json!({}))],
        "odds": {"total": 20, "ranks": [
            rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
            {"rank": 2, "weight": 3, "prize": {"pool": {"tier": "mini", "take": {"share_ppm": 333_333}}}},
            {"rank": 3, "weight": 5, "prize": {"fixed": {"tier": "mini", "amount": 7}}},
            {"rank": 4, "weight": 4, "prize": {"coupon": {"coupon_id": coupon}}}]}})
}

/// Two epochs, the first closed; a definition that waited for a win; every kind of claim; calls with many entries.
pub async fn play() -> Story {
    let coupon = TestRedis::id("c");
    let fixture = JackpotFixture::with(&odds(5_000, &coupon)).await;
    define_coupon(&fixture, &Id::parse(&coupon).expect("an id"), STOCK).await;
    let metrics = PlayMetrics::new(Arc::new(Metrics::new()));
    let play = crate::support::given::play(&fixture.store, Arc::clone(&fixture.operate.views), metrics, u64::MAX);
    fixture.fund("first", 50).await;
    one_by_one(&fixture, &play, "a").await;
    fixture.define(&odds(900, &coupon)).await;
    for call in 0..8 {
        one_call(&fixture, call).await;
    }
    for pending in 0..2 {
        one_by_one(&fixture, &play, &format!("b{pending}")).await;
    }
    fixture
        .operate
        .end_epoch(&fixture.id, "a test".to_owned(), &operator())
        .await
        .expect("rotated");
    fixture.status(Status::Paused).await;
    fixture.status(Status::Open).await;
    one_by_one(&fixture, &play, "c").await;
    export(&fixture).await
}

async fn one_by_one(fixture: &JackpotFixture, play: &Play, prefix: &str) {
    for i in 0..40_u64 {
        let sent = Sent {
            client_seed: (i % 3 == 0).then(|| ClientSeed::parse("mine").expect("a seed")),
            ..sent(&format!("p{i}"), 500 + i * 37)
        };
        let entry = Id::parse(&format!("{prefix}-{i}")).expect("an id");
        play.enter(&fixture.id, &entry, sent, By::default())
            .await
            .expect("played");
    }
}

/// Many entries in one call, as combined and batched entries come. Entries that it leaves pending stay pending.
async fn one_call(fixture: &JackpotFixture, call: u64) {
    let (_, view) = fixture.fresh().await;
    let entry = |i: u64| {
        let (entry_id, sent) = (format!("call{call}:{i}"), sent("q", 100 * i));
        let rank = view
            .seed
            .rank(&entry_id, None, 0, view.definition.odds().at(sent.stake));
        EnterEntry { entry_id, sent, rank }
    };
    let entries = (0..25).map(entry).collect::<Vec<_>>();
    fixture.enter(&entries).await;
    // A repeat in front of new entries: lines of the block that were not taken.
    let again = [entries[0].clone(), entry(100 + call)];
    fixture.enter(&again).await;
}

pub async fn export(fixture: &JackpotFixture) -> Story {
    export_of(fixture, fixture.stream().await).await
}

/// An export of these events.
pub async fn export_of(fixture: &JackpotFixture, events: Vec<Fields>) -> Story {
    let directory = tempfile::tempdir().expect("a directory");
    let keys = Arc::new(SigningKeys::load(&"5e".repeat(32), directory.path()).expect("a key"));
    let id = fixture.id.clone();
    let mut story = Story {
        id: id.clone(),
        keys,
        lines: Vec::new(),
    };
    story.lines.push(
        json!({"kind": "jackpot-ledger", "format": FORMAT, "jackpot_id": id, "ledger_id": LEDGER, "keys": story.jwks()}),
    );
    for epoch in fixture.operate.epochs(&id).await.expect("readable") {
        let opening = &epoch.opening;
        let seed = opening
            .seed(&fixture.operate.views.secrets, &id, epoch.epoch)
            .filter(|_| epoch.closed_ms.is_some());
        let seed = seed.map(|seed| seed.reveal());
        story.lines.push(
            json!({"kind": "epoch", "epoch": epoch.epoch, "commitment": opening.commitment, "nonce": opening.nonce,
            "secret_id": opening.secret_id,
            "opened_at": rfc3339(epoch.opened_ms), "closed_at": epoch.closed_ms.map(rfc3339), "seed": seed}),
        );
    }
    story.cycles(fixture, &events);
    let mut players = HashMap::new();
    for fields in events {
        let event = Event::parse(&(&fields).into()).expect("readable");
        story
            .lines
            .push(json!({"kind": "event", "n": event.n, "hash": "", "body": chain::body(&(&fields).into())}));
        let mut paid = 0;
        for (entry_id, claim) in claims(&event, &mut players) {
            let receipt = story.receipt(&event, paid, &entry_id, &players[&claim.sequence], &claim);
            paid += u64::from(receipt.is_some());
            story.lines.extend(receipt);
        }
    }
    story.lines.push(json!({}));
    story.close();
    story
}

/// The claims of an event with the ids of their entries.
fn claims(event: &Event, players: &mut HashMap<u64, PersonId>) -> Vec<(String, Claim)> {
    match &event.kind {
        Kind::Enter(enter) => {
            for (sequence, entry) in (enter.call.first..).zip(&enter.call.entries) {
                players.insert(sequence, entry.sent.player.clone());
            }
            let id = |claim: &Claim| enter.call.entry(claim.sequence).expect("taken").1.entry_id.clone();
            enter.claims.iter().map(|claim| (id(claim), claim.clone())).collect()
        }
        Kind::Claim { entry_id, claim } => vec![(entry_id.clone(), claim.clone())],
        _ => Vec::new(),
    }
}

impl Story {
    /// A line for each cycle that began, with its seed if it ended.
    fn cycles(&mut self, fixture: &JackpotFixture, events: &[Fields]) {
        let events = events
            .iter()
            .map(|fields| Event::parse(&fields.into()).expect("readable"));
        let changes: Vec<_> = events.flat_map(|event| event.cycles).collect();
        for change in &changes {
            let CycleChange::Began(row) = change else { continue };
            let ends = |change: &CycleChange| matches!(change, CycleChange::Ended { tier, cycle, .. } if (tier, *cycle) == (&row.tier, row.cycle));
            let seed = changes.iter().any(ends).then(|| {
                let secret = fixture.operate.views.secrets.get(&row.secret).expect("a secret");
                CycleSeed::derive(secret, &self.id, &row.tier, row.cycle, &row.nonce).reveal()
            });
            self.lines.push(
                json!({"kind": "cycle", "tier": row.tier, "cycle": row.cycle, "nonce": row.nonce, "secret_id": row.secret,
                "commitment": row.commitment.0, "seed": seed}),
            );
        }
    }

    pub fn jwks(&self) -> Jwks {
        Jwks::new(self.keys.public())
    }

    fn receipt(&self, event: &Event, i: u64, entry_id: &str, player: &PersonId, claim: &Claim) -> Option<Value> {
        let ClaimResult::Paid {
            tier,
            amount,
            claim_order,
            pool_before,
        } = &claim.result
        else {
            return None;
        };
        let (id, sequence) = (&self.id, claim.sequence);
        let history = &event.history;
        let digest = Sha256::digest(format!("payout\n{id}\n{history}\n{entry_id}\n{sequence}"));
        let minor = |amount: u64| Minor::try_from(amount).expect("in range");
        let receipt = UnsignedReceipt {
            payout_id: hex::encode(&digest[..16]),
            jackpot_id: id.clone(),
            entry_id: entry_id.to_owned(),
            player_id: player.clone(),
            tier: tier.clone(),
            amount: minor(*amount),
            currency: Currency::parse("KRW").expect("a code"),
            claim_order: *claim_order,
            pool_before: minor(*pool_before),
            pool_after: minor(pool_before - amount),
            paid_at_ms: event.at_ms,
            history: history.clone(),
            n: event.n,
            i,
        };
        let mut line = serde_json::to_value(receipt.sign(&self.keys.current())).expect("JSON");
        line["kind"] = json!("receipt");
        Some(line)
    }

    /// Chains all events and signs the head, as a party with the key and the database could.
    pub fn close(&mut self) {
        let mut place = (0, ChainHash::first(&self.id));
        for line in self.lines.iter_mut().filter(|line| line["kind"] == "event") {
            place = (
                line["n"].as_u64().expect("n"),
                place.1.next(line["body"].as_str().expect("a body")),
            );
            line["hash"] = json!(place.1.to_string());
        }
        *self.lines.last_mut().expect("a head") = self.head(place.0, place.1);
    }

    fn head(&self, n: u64, hash: ChainHash) -> Value {
        let head = Head::sign(self.id.clone(), LEDGER, n, hash, 0, &self.keys.current());
        let mut line = serde_json::to_value(head).expect("JSON");
        line["kind"] = json!("head");
        line
    }

    /// The head as it was at an event.
    pub fn head_at(&self, n: u64) -> Head {
        let event = &self.lines[self.event(n)];
        let hash = ChainHash::parse(event["hash"].as_str().expect("a hash")).expect("a hash");
        let mut line = self.head(n, hash);
        line.as_object_mut().expect("an object").remove("kind");
        serde_json::from_value(line).expect("a head")
    }

    /// Index of the line of an event.
    pub fn event(&self, n: u64) -> usize {
        let found = self
            .lines
            .iter()
            .position(|line| line["kind"] == "event" && line["n"] == n);
        found.expect("an event")
    }

    /// Number of the first event whose body fits `is`.
    pub fn find(&self, is: impl Fn(&str) -> bool) -> u64 {
        let mut events = self.lines.iter().filter(|line| line["kind"] == "event");
        let found = events.find(|line| is(line["body"].as_str().expect("a body")));
        found.expect("such an event")["n"].as_u64().expect("n")
    }

    /// Numbers of all events whose bodies fit `is`.
    pub fn all(&self, is: impl Fn(&str) -> bool) -> Vec<u64> {
        let events = self.lines.iter().filter(|line| line["kind"] == "event");
        let found = events.filter(|line| is(line["body"].as_str().expect("a body")));
        found.map(|line| line["n"].as_u64().expect("n")).collect()
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.all(|_| true).len() as u64
    }

    /// A field of an event.
    pub fn field(&self, n: u64, name: &str) -> String {
        let body = self.lines[self.event(n)]["body"].as_str().expect("a body");
        let fields: BTreeMap<String, String> = serde_json::from_str(body).expect("JSON");
        fields[name].clone()
    }

    /// Number of entries that its events say they took.
    pub fn entries(&self) -> u64 {
        let bodies = self.lines.iter().filter_map(|line| line["body"].as_str());
        let fields = bodies.map(|body| serde_json::from_str::<Value>(body).expect("JSON"));
        fields
            .filter_map(|fields| fields["count"].as_str()?.parse::<u64>().ok())
            .sum()
    }

    /// Changes the fields of an event.
    pub fn edit(&mut self, n: u64, change: impl FnOnce(&mut BTreeMap<String, String>)) {
        let at = self.event(n);
        let body = self.lines[at]["body"].as_str().expect("a body");
        let mut fields = serde_json::from_str(body).expect("JSON");
        change(&mut fields);
        self.lines[at]["body"] = json!(chain::body(&(&fields).into()));
    }

    pub fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        lines.join("\n") + "\n"
    }

    pub fn verify(&self) -> Report {
        self.verify_with(Vec::new())
    }

    pub fn verify_with(&self, heads: Vec<Head>) -> Report {
        let trusted = Trusted {
            keys: Some(self.jwks()),
            heads,
            ..Trusted::default()
        };
        verify(self.text().as_bytes(), trusted).expect("an export")
    }
}
