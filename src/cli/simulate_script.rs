//! The service's own scripts for `simulate --compare`: the collision of the other ways, on the same kind of connection.
//!
//! Nothing is checked here, a rate is measured.

use std::path::Path;
use std::sync::Arc;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::{Sent, State};
use jackpot_core::money::Minor;
use jackpot_core::secret::MasterSecret;
use jackpot_simulate::{Plays, Scripts, Seen, SimulateError, Take};
use serde_json::{Value, json};

use crate::jackpot::known::Known;
use crate::jackpot::operate::Operate;
use crate::jackpot::scripts::{self, EnterEntry, EntryReply, Fence, Wanted};
use crate::jackpot::view::{Status, View, Views};
use crate::operator::Operator;
use crate::settings;
use crate::store::Store;

/// The rank that a winner draws.
const WINNING_RANK: u32 = 1;
/// Long, as for the other ways, because slowness is to be measured, not cut short.
const LIMIT_MS: u64 = 60_000;

/// One store, that is one connection, per player.
pub struct Stores {
    stores: Vec<Store>,
    operate: Operate,
}

/// The jackpot of one round.
pub struct Jackpot {
    id: Id,
    known: Arc<Known>,
    view: Arc<View>,
}

/// One connection of the round.
pub struct Player {
    store: Store,
    known: Arc<Known>,
    fence: Fence,
    definition: Arc<Definition>,
    number: usize,
    sent: u32,
}

impl Scripts for Stores {
    type Jackpot = Jackpot;
    type Player = Player;

    async fn open(url: &str, data: &Path, connections: u32) -> Result<Self, SimulateError> {
        let mut stores = Vec::new();
        for number in 0..connections {
            stores.push(open(url, &data.join(format!("store-{number}"))).await?);
        }
        let Some(first) = stores.first().cloned() else {
            return Err(SimulateError::Usage("the comparison needs a player".to_owned()));
        };
        let views = Arc::new(Views::new(first.clone(), MasterSecret::new([0; 32])));
        Ok(Self {
            operate: Operate::new(first, views),
            stores,
        })
    }

    async fn jackpot(&self, id: &str, definition: Value, start: i64) -> Result<Jackpot, SimulateError> {
        let id = Id::parse(id).map_err(SimulateError::script)?;
        let by = Operator {
            who: "comparison".to_owned(),
            request_id: "comparison".to_owned(),
        };
        let document = serde_json::from_value(definition).map_err(SimulateError::script)?;
        let definition = Definition::check(document)
            .map_err(|wrong| SimulateError::Usage(format!("the comparison's definition: {wrong:?}")))?;
        let defining = self.operate.define(&id, &definition, Wanted::Any, Status::Open, &by);
        defining.await.map_err(SimulateError::script)?;
        let fund = scripts::Adjust {
            adjustment_id: Id::parse("start").map_err(SimulateError::script)?,
            digest: "start".to_owned(),
            tier: Id::parse("grand").map_err(SimulateError::script)?,
            from: None,
            to: Some("pool"),
            amount: Minor::try_from(start.unsigned_abs()).map_err(SimulateError::script)?,
            reason: "comparison".to_owned(),
            who: by.who,
            request_id: by.request_id,
        };
        self.operate.adjust(&id, &fund).await.map_err(SimulateError::script)?;
        let (known, view) = self.operate.views.refresh(&id).await.map_err(SimulateError::script)?;
        Ok(Jackpot { id, known, view })
    }

    fn players(&self, jackpot: &Jackpot) -> Vec<Player> {
        let player = |(number, store): (usize, &Store)| Player {
            store: store.clone(),
            known: Arc::clone(&jackpot.known),
            fence: jackpot.known.fence(&jackpot.view),
            definition: Arc::clone(&jackpot.view.definition),
            number,
            sent: 0,
        };
        self.stores.iter().enumerate().map(player).collect()
    }

    async fn pool(&self, jackpot: &Jackpot) -> Result<i64, SimulateError> {
        let snapshot = self
            .operate
            .views
            .snapshot(&jackpot.id)
            .await
            .map_err(SimulateError::script)?;
        let pool = snapshot.meters.first().map_or(0, |meter| meter.pool);
        i64::try_from(pool).map_err(SimulateError::script)
    }

    async fn close(self) {
        for store in &self.stores {
            store.close().await;
        }
    }
}

impl Player {
    async fn enter(&mut self, rank: u32) -> Result<Take, SimulateError> {
        self.sent += 1;
        let entries = [EnterEntry {
            entry_id: format!("e{}-{}", self.number, self.sent),
            sent: Sent {
                player: Id::parse(&format!("p{}", self.number)).map_err(SimulateError::script)?,
                stake: Minor::ZERO,
                client_seed: None,
            },
            rank,
        }];
        let entering = scripts::enter(&self.store, &self.known.keys, &self.fence, &self.definition, &entries);
        let entered = entering.await.map_err(SimulateError::script)?;
        match entered.replies.first() {
            Some(EntryReply::Taken(record) | EntryReply::Seen(record)) => match &record.state {
                State::Paid { payout, .. } => {
                    Ok(Take::Paid(i64::try_from(payout.amount).map_err(SimulateError::script)?))
                }
                _ => Ok(Take::Retry),
            },
            _ => Ok(Take::GaveUp),
        }
    }
}

impl Plays for Player {
    async fn contribute(&mut self) -> Result<bool, SimulateError> {
        Ok(self.enter(0).await? != Take::GaveUp)
    }

    async fn win(&mut self) -> Result<Take, SimulateError> {
        self.enter(WINNING_RANK).await
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }
}

async fn open(url: &str, directory: &Path) -> Result<Store, SimulateError> {
    std::fs::create_dir_all(directory).map_err(|source| SimulateError::File {
        doing: "making",
        path: directory.to_owned(),
        source,
    })?;
    let settings = json!({ "mode": "standalone", "urls": [url], "durability": "local", "tls_ca_file": "",
        "connect_timeout_ms": LIMIT_MS, "response_timeout_ms": LIMIT_MS, "total_timeout_ms": LIMIT_MS, "server_program": "",
        "max_memory_mib": 0, "refuse_entries_above_memory_pct": 99 });
    let settings: settings::Redis = serde_json::from_value(settings).map_err(SimulateError::script)?;
    Store::open(&settings, directory).await.map_err(SimulateError::script)
}
