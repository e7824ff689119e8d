//! A jackpot in the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;

use jackpot::jackpot::ledger::books::Books;
use jackpot::jackpot::ledger::event::Event;
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::view::Views;
use jackpot_core::ids::Id;
use jackpot_core::receipt::Receipt;
use jackpot_core::secret::MasterSecret;

use crate::jackpot::fixture::{Jackpot, JackpotFixture, SECRET};
use crate::support::fixture::{Capability, Fields};
use crate::support::ledger_fixture::{InLedger, LedgerFixture, Texts};

const ENTRY_COLUMNS: &str =
    "player_id at_ms jackpot_id sequence entry_id stake client_seed n epoch version rank settled";

pub type JackpotLedger = LedgerFixture<Jackpot>;

impl InLedger for Jackpot {
    type Kind = Jackpots;
    const TABLES: &'static [(&'static str, &'static str)] = &[
        ("events", "kind id n stream_id at_ms type last_sequence hash moved body"),
        ("definitions", "kind id version n at_ms json kept"),
        (
            "epochs",
            "jackpot_id epoch commitment nonce secret_id seed opened_ms closed_ms closed_n",
        ),
        ("adjustments", "jackpot_id adjustment_id n at_ms digest"),
        (
            "payouts",
            "payout_id jackpot_id claim_order n sequence entry_id player_id rank tier amount currency pool_before pool_after \
         paid_at_ms history event_id",
        ),
        (
            "audit",
            "subject n at_ms who action target before after reason request_id",
        ),
        (
            "source_meters",
            "jackpot_id source_id tier entries contributed contributed_micro paid payouts",
        ),
        ("source_postings", "jackpot_id source_id at_ms n moved"),
        (
            "source_payouts",
            "payout_id source_id jackpot_id paid_at_ms claim_order player_id tier amount",
        ),
        ("source_entries", "jackpot_id source_id at_ms sequence player_id"),
        (
            "cycles",
            "jackpot_id tier cycle nonce secret_id commitment low high after_s deadline_s began_ms began_n ended_ms ended_n \
             ended_by seed",
        ),
        ("cycle_versions", "jackpot_id tier cycle version"),
        (
            "payout_states",
            "payout_id jackpot_id n first_state paid_at_ms claim_order player_id tier amount currency source_id state state_n \
             approved_by approver attempt settlement_id attempt_text attempt_ms asked voided_ms",
        ),
        (
            "settlement_ids",
            "jackpot_id settlement_id n payout_id attempt attempt_text",
        ),
        ("transfers", "jackpot_id transfer_id n place at_ms to_id parts done_ms"),
        ("streams", "kind id n hash stream_id restores books indexed_n stopped"),
    ];
    const RECONCILE_INTERVAL_S: u64 = 30;

    fn started(fixture: &JackpotFixture) -> Jackpots {
        let views = Views::new(fixture.store.clone(), MasterSecret::new(SECRET));
        Jackpots {
            operate: Operate::new(fixture.store.clone(), Arc::new(views)),
        }
    }

    async fn known(fixture: &JackpotFixture) -> Jackpots {
        Jackpots {
            operate: fixture.operate.clone(),
        }
    }

    async fn add_rows(fixture: &JackpotLedger, all: &mut BTreeMap<&'static str, Vec<Texts>>) {
        let mut entries = fixture.indexed().await;
        entries.retain(|row| row.contains(&fixture.id.to_string()));
        all.insert("entries", entries);
    }

    async fn assert_follows(fixture: &JackpotLedger, events: &[Fields], books: Books) {
        let events: Vec<_> = events.iter().cloned().map(Self::event).collect();
        let mut fold = Fold::default();
        for event in &events {
            fold.apply(event).expect("follows");
        }
        assert_eq!(books, fold.books);
        fixture.assert_follows_from(&events).await;
    }
}

impl JackpotLedger {
    /// The index of entries, all days.
    pub async fn indexed(&self) -> Vec<Texts> {
        let mut all = Vec::new();
        for day in self.rows("SELECT day FROM entry_days".to_owned()).await {
            all.extend(self.table(&format!("entries_{}", day[0]), ENTRY_COLUMNS).await);
        }
        all.sort();
        all
    }

    /// The receipt as the service serves it.
    pub async fn receipt(&self, payout_id: &str) -> Receipt {
        let row = Queries::new(self.ledger.sql.clone(), 7)
            .payout(payout_id)
            .await
            .expect("a payout");
        serde_json::from_value(serde_json::to_value(row).expect("JSON")).expect("a receipt")
    }

    /// The events of a jackpot in SQL, each of them once, and their chain whole.
    pub async fn events_of(&self, id: &Id) -> Vec<Event> {
        self.chained(id).await.into_iter().map(Jackpot::event).collect()
    }
}
