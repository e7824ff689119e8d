//! Coupons as prizes in the ledger: rows, look-up by player, and a Redis rebuilt from it, on both databases.

use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::ledger::queries::entries::EntryFilters;
use jackpot::jackpot::play::{By, Played};
use jackpot::ledger::queries::Between;
use jackpot_api::entry::CouponBody;
use jackpot_core::ids::Id;

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::entry;
use crate::jackpot::ledger::cycles::exported;
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::jackpot::prize_coupon::{coffee, coffee_rank, define_coffee};
use crate::support::given::{person, sent};
use crate::support::prelude::*;

on_both_databases!(
    a_unit_that_an_entry_won_is_in_the_ledger_once_and_found_by_its_player,
    a_restored_jackpot_still_knows_who_got_which_unit,
    players_are_named_by_identity_providers,
);

const STOCK: u64 = 3;
const ENTRIES: u64 = 6;

async fn fixture(db: LedgerDb) -> JackpotLedger {
    let fixture = JackpotLedger::with(db, &json!({})).await;
    let ranks = [coffee_rank(&fixture)];
    fixture
        .define(&json!({"max_redraws": 1, "odds": {"total": 1, "ranks": ranks}}))
        .await;
    define_coffee(&fixture, STOCK).await;
    fixture
}

async fn played(fixture: &JackpotLedger) -> Vec<Played> {
    let play = play(fixture, u64::MAX);
    let mut all = Vec::new();
    for i in 1..=ENTRIES {
        let entry = Id::parse(&format!("e{i}")).expect("an id");
        let sent = sent(&format!("p{i}"), 1);
        all.push(
            play.enter(&fixture.id, &entry, sent, By::default())
                .await
                .expect("played"),
        );
    }
    all
}

/// The jackpot, not its coupon, is lost and rebuilt.
async fn rebuilt(fixture: &JackpotLedger) {
    let keys: Vec<String> = fixture
        .raw(redis::cmd("KEYS").arg(format!("jp:{{{}}}:*", fixture.id)))
        .await;
    fixture.raw::<u64>(redis::cmd("DEL").arg(keys)).await;
    fixture.heal().await;
}

async fn a_unit_that_an_entry_won_is_in_the_ledger_once_and_found_by_its_player(db: LedgerDb) {
    let fixture = fixture(db).await;
    played(&fixture).await;
    for _ in 0..2 {
        fixture.project().await;
        played(&fixture).await;
    }
    fixture.assert_complete().await;
    let columns = "sequence entry_id player_id rank coupon_id coupon_sequence";
    let rows = fixture.table("coupon_prizes", columns).await;
    let expected: Vec<Vec<String>> = (1..=STOCK)
        .map(|i| {
            [
                format!("{i}"),
                format!("e{i}"),
                format!("p{i}"),
                "2".into(),
                coffee(&fixture).to_string(),
                format!("{i}"),
            ]
            .into()
        })
        .collect();
    assert_eq!(rows, expected);

    let queries = Queries::new(fixture.ledger.sql.clone(), 30);
    for (player, sequence) in [("p2", Some(2)), ("p5", None)] {
        let filters = EntryFilters {
            player_id: Some(person(player)),
            jackpot_id: None,
            source_id: None,
            only: None,
            between: Between::default(),
        };
        let page = queries.entries(&filters, None, 10).await.expect("readable");
        let outcome = page.items[0].outcome.as_ref().expect("settled");
        let prize = if sequence.is_some() { "coupon" } else { "none" };
        assert_eq!((page.items.len(), outcome.prize.as_str()), (1, prize));
        let code = outcome
            .coupon
            .as_ref()
            .map(|coupon| coupon.code.clone())
            .unwrap_or_default();
        let expected = sequence.map(|sequence| CouponBody {
            coupon_id: coffee(&fixture).clone(),
            request_id: format!("draw:{}:e2", fixture.id),
            sequence: u64::try_from(sequence).expect("a number from 1"),
            code,
        });
        assert_eq!(outcome.coupon, expected);
    }
}

async fn a_restored_jackpot_still_knows_who_got_which_unit(db: LedgerDb) {
    let fixture = fixture(db).await;
    let before = played(&fixture).await;
    // One more entry that nobody finished: the restored jackpot has it pending, and its coupon refuses.
    fixture.take("late", 2).await;
    fixture.project().await;
    rebuilt(&fixture).await;
    let after = played(&fixture).await;
    for (before, after) in before.iter().zip(&after) {
        assert!(after.replayed);
        assert_eq!((&after.record, &after.attempts), (&before.record, &before.attempts));
    }
    let play = play(&fixture, u64::MAX);
    let late = play
        .look_up(&fixture.id, "late")
        .await
        .expect("remembered")
        .record
        .expect("a record");
    play.finish_pending(&fixture.id, "late", late).await.expect("finished");
    assert_eq!(fixture.snapshot().await.pending, 0);
    fixture.heal().await;
    fixture.assert_complete().await;
}

/// The longest name, with every character that ends a word or a part somewhere else.
async fn players_are_named_by_identity_providers(db: LedgerDb) {
    let fixture = fixture(db).await;
    let name = format!("auth0|a.b+c=d@example.org:{}", "9".repeat(102));
    let playing = play(&fixture, u64::MAX);
    for number in 1..=2 {
        let entry = Id::parse(&format!("e{number}")).expect("an id");
        let taken = playing.enter(&fixture.id, &entry, sent(&name, 1), By::default()).await;
        taken.expect("played");
    }
    let whole = batch("b", &[sent(&name, 1), sent("p", 1), sent(&name, 2)]);
    playing
        .enter_batch(&fixture.id, &whole, By::default().key)
        .await
        .expect("played");
    let mut late = entry("late", 2);
    late.sent.player = person(&name);
    fixture.enter(&[late]).await;
    fixture.project().await;
    rebuilt(&fixture).await;
    let held = playing.look_up(&fixture.id, "late").await.expect("remembered").record;
    let held = held.expect("a record");
    let of_player = format!("{:?}", held.state);
    of_player.says(&name);
    let finished = playing.finish_pending(&fixture.id, "late", held).await;
    finished.expect("finished");
    fixture.project().await;
    fixture.assert_complete().await;
    let queries = Queries::new(fixture.ledger.sql.clone(), 30);
    let filters = EntryFilters {
        player_id: Some(person(&name)),
        jackpot_id: None,
        source_id: None,
        only: None,
        between: Between::default(),
    };
    let page = queries.entries(&filters, None, 10).await.expect("readable");
    let mut found: Vec<_> = page.items.iter().map(|row| row.entry_id.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, ["b:1", "b:3", "e1", "e2", "late"]);
    let report = exported(&fixture).await.verify();
    assert!(report.is_right(), "{report}");
}
