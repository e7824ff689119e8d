//! This service's script alone, called as the other approaches call Redis. Nothing checks its answers, because the rate
//! counts.

use std::path::Path;
use std::sync::Arc;

use jackpot::jackpot::known::Known;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::scripts::{self, EnterEntry, EntryReply, Fence, Wanted};
use jackpot::jackpot::view::Views;
use jackpot::operator::Operator;
use jackpot::settings::{Durability, RedisMode, Settings};
use jackpot::store::Store;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::money::Minor;
use jackpot_core::secret::MasterSecret;

use super::score::{Approach, Round, Score, Spec};
use super::{Take, definition, play};
use crate::Outcome;
use crate::bare_redis::BareRedis;

pub(super) const APPROACH: Approach = Approach {
    name: "this service, script alone",
    how: "the service's script, called as the others call Redis",
    includes: "bare calls: 1 call for each entry, which contributes, claims, keeps the answer for repeats and appends the event; no \
               HTTP, no draw, no redraw",
    ours: true,
};

/// The rank that a winner draws.
const WINNING_RANK: u32 = 1;
/// Long, because the rate counts: a slow call must not be cut short.
const LIMIT_MS: u64 = 60_000;

/// Plays all rounds, each with a new jackpot. Each player has its own store, that is, one connection.
pub(super) async fn score(server: &BareRedis, spec: &Spec) -> Outcome<Score> {
    let mut stores = Vec::new();
    for number in 0..spec.connections() {
        let directory = server.directory().join(format!("store-{number}"));
        stores.push(open(&server.url(), &directory).await?);
    }
    let first = stores.first().cloned().ok_or("a collision has a player")?;
    let views = Arc::new(Views::new(first.clone(), MasterSecret::new([0; 32])));
    let operate = Operate::new(first, views);
    let mut rounds = Vec::new();
    for number in 0..spec.rounds {
        let id = Id::parse(&format!("script-{number}"))?;
        let players = players(&operate, &stores, &id, spec).await?;
        let round = play(spec, players).await?;
        let snapshot = operate.views.snapshot(&id).await?;
        let left = snapshot.meters.first().map_or(0, |meter| meter.pool);
        rounds.push(Round {
            left: i64::try_from(left)?,
            ..round
        });
    }
    for store in &stores {
        store.close().await;
    }
    Ok(Score::of(APPROACH, spec, &rounds))
}

/// Defines and funds the jackpot.
async fn players(operate: &Operate, stores: &[Store], id: &Id, spec: &Spec) -> Outcome<Vec<Player>> {
    let by = Operator {
        who: "comparison".to_owned(),
        owner: "comparison".to_owned(),
        request_id: "comparison".to_owned(),
    };
    let document = serde_json::from_value(definition(id.as_str(), spec))?;
    let definition = Definition::check(document).map_err(|wrong| format!("{wrong:?}"))?;
    operate.define(id, &definition, Wanted::Any, Status::Open, &by).await?;
    let fund = scripts::Adjust {
        adjustment_id: Id::parse("start")?,
        digest: "start".to_owned(),
        tier: Id::parse("grand")?,
        from: None,
        to: Some("pool"),
        amount: Minor::try_from(spec.start.unsigned_abs())?,
        reason: "comparison".to_owned(),
        by,
    };
    operate.adjust(id, &fund).await?;
    let (known, view) = operate.views.refresh(id).await?;
    let player = |(number, store): (usize, &Store)| Player {
        store: store.clone(),
        known: Arc::clone(&known),
        fence: known.fence(&view),
        definition: Arc::clone(&view.definition),
        number,
        sent: 0,
    };
    Ok(stores.iter().enumerate().map(player).collect())
}

struct Player {
    store: Store,
    known: Arc<Known>,
    fence: Fence,
    definition: Arc<Definition>,
    number: usize,
    sent: u32,
}

impl Player {
    async fn enter(&mut self, rank: u32) -> Outcome<Take> {
        self.sent += 1;
        let entries = [EnterEntry {
            entry_id: format!("e{}-{}", self.number, self.sent),
            sent: Sent::of(PersonId::parse(&format!("p{}", self.number))?, Minor::ZERO),
            rank,
        }];
        let entered = scripts::enter(&self.store, &self.known.keys, &self.fence, &self.definition, &entries).await?;
        Ok(match entered.replies.first() {
            Some(EntryReply::Taken(record) | EntryReply::Seen(record)) => match &record.state {
                State::Paid { payout, .. } => Take::Paid(i64::try_from(payout.amount)?),
                _ => Take::Retry,
            },
            _ => Take::GaveUp,
        })
    }
}

impl super::Player for Player {
    async fn contribute(&mut self) -> Outcome<bool> {
        Ok(self.enter(0).await? != Take::GaveUp)
    }

    async fn win(&mut self) -> Outcome<Take> {
        self.enter(WINNING_RANK).await
    }
}

async fn open(url: &str, directory: &Path) -> Outcome<Store> {
    std::fs::create_dir_all(directory)?;
    let mut settings = Settings::load(None)?.redis;
    (settings.mode, settings.urls) = (RedisMode::Standalone, vec![url.to_owned()]);
    settings.durability = Durability::Local;
    settings.connect_timeout_ms = LIMIT_MS;
    settings.response_timeout_ms = LIMIT_MS;
    settings.total_timeout_ms = LIMIT_MS;
    settings.refuse_entries_above_memory_pct = 99;
    Ok(Store::open(&settings, directory).await?)
}
