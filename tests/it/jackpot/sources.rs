//! Sources: several games feed one jackpot, some draw for themselves. What each brings and wins is in Redis and in the ledger,
//! also after an instance died or Redis was lost, on both databases.

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::ledger::queries::entries::EntryFilters;
use jackpot::jackpot::ledger::queries::payouts::PayoutFilters;
use jackpot::jackpot::ledger::queries::postings::PostingFilters;
use jackpot::jackpot::play::{By, Played};
use jackpot::jackpot::scripts::{self, EnterEntry, EntryReply};
use jackpot::ledger::queries::Between;
use jackpot::proof::verify::Place;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::{ClientSeed, Id};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::{Sent, State};

use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, operator, sent, tier};
use crate::jackpot::ledger::fixture::JackpotLedger;
use crate::proof::story::export;
use crate::support::given::person;
use crate::support::prelude::*;

on_both_databases!(
    what_each_source_brings_and_wins_is_in_the_ledger_and_can_be_asked_for,
    an_entry_that_was_pending_keeps_its_source_and_its_ranks,
);

/// The key that may send entries of `slot`.
const GAME: By<'_> = By {
    key: "game-1",
    passes: &[],
    currency: None,
};

/// The jackpot's own contribution is a rate; two sources have their own. Rank 1 takes the pool, ranks 2 and 3 a part.
fn shared() -> Value {
    json!({"contribution": {"rate_ppm": 15_001}, "max_redraws": 2,
        "tiers": [tier("grand", 700_000, &json!({"min_payout": 100, "reserve_ppm": 100_000})), tier("mini", 300_000, &json!({}))],
        "odds": {"total": 2, "ranks": [
            {"rank": 1, "weight": 0, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 5}}},
            {"rank": 3, "weight": 0, "prize": {"fixed": {"tier": "mini", "amount": 1}}}]},
        "sources": {"lobby": {}, "vip": {"contribution": {"fixed": 50}},
            "slot": {"contribution": {"rate_ppm": 30_000}, "draw": "external", "keys": ["game-1"]}}})
}

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

fn from(source: &str, player: &str, stake: u64) -> Sent {
    Sent {
        source: Some(id(source)),
        ..sent(player, stake)
    }
}

fn drawn(ranks: &[u32], player: &str) -> Sent {
    Sent {
        ranks: Some(Ranks::new(ranks.to_vec()).expect("ranks")),
        ..from("slot", player, 1_000)
    }
}

async fn enter(fixture: &JackpotFixture, entry_id: &str, sent: Sent) -> Result<Played, PlayError> {
    play(fixture, u64::MAX)
        .enter(&fixture.id, &id(entry_id), sent, GAME)
        .await
}

fn results(played: &Played) -> Vec<(u32, &'static str)> {
    played
        .attempts
        .iter()
        .map(|one| (one.rank, one.result.as_str()))
        .collect()
}

#[tokio::test]
async fn what_an_external_source_drew_is_tried_in_order_and_not_drawn_again() {
    let fixture = JackpotFixture::with(&shared()).await;
    for (entry_id, ranks, expected) in [
        ("a", &[0][..], &[(0, "none")][..]),
        ("b", &[1], &[(1, "retry")]),
        ("c", &[1, 0], &[(1, "retry"), (0, "none")]),
        ("d", &[1, 2], &[(1, "retry"), (2, "paid")]),
        ("e", &[2, 1, 0], &[(2, "paid")]),
    ] {
        let first = enter(&fixture, entry_id, drawn(ranks, "p")).await.expect("played");
        assert_eq!(results(&first), expected, "{entry_id}");
        let again = enter(&fixture, entry_id, drawn(ranks, "p")).await.expect("remembered");
        assert!(again.replayed && results(&again) == expected && again.record == first.record);
        for other in [drawn(&[3], "p"), from("slot", "p", 1_000), from("lobby", "p", 1_000)] {
            let reused = enter(&fixture, entry_id, other).await;
            assert!(matches!(reused, Err(PlayError::EntryIdReused(_))), "{reused:?}");
        }
    }
    fixture.assert_rebuilds().await;
}

#[tokio::test]
async fn a_refused_entry_leaves_no_trace_and_a_repeat_asks_for_a_key_of_its_source() {
    let fixture = JackpotFixture::with(&shared()).await;
    enter(&fixture, "a", drawn(&[0], "p")).await.expect("played");
    let whole = batch("b", &[drawn(&[0], "p")]);
    let taken = play(&fixture, u64::MAX)
        .enter_batch(&fixture.id, &whole, GAME.key)
        .await;
    taken.expect("taken");
    let state = fixture.state().await;
    let refused = [
        (sent("p", 10), "source_id"),
        (from("attic", "p", 10), "source_id"),
        (from("slot", "p", 10), "ranks"),
        (drawn(&[9], "p"), "ranks"),
        (drawn(&[1, 2, 3, 0], "p"), "ranks"),
        (
            Sent {
                source: Some(id("vip")),
                ..drawn(&[1], "p")
            },
            "ranks",
        ),
        (from("lobby", "p", 0), "stake"),
    ];
    for (sent, field) in refused {
        let singly = enter(&fixture, "x", sent.clone()).await;
        assert!(
            matches!(&singly, Err(PlayError::Invalid(wrong)) if wrong[0].field == field),
            "{singly:?}"
        );
        let whole = batch("x", &[from("lobby", "p", 10), sent]);
        let whole = play(&fixture, u64::MAX)
            .enter_batch(&fixture.id, &whole, GAME.key)
            .await;
        let named = format!("entries[1].{field}");
        assert!(
            matches!(&whole, Err(PlayError::Invalid(wrong)) if wrong[0].field == named),
            "{whole:?}"
        );
    }
    let stranger = By {
        key: "game-2",
        passes: &[],
        currency: None,
    };
    let play = play(&fixture, u64::MAX);
    let stolen = play.enter(&fixture.id, &id("x"), drawn(&[1], "p"), stranger).await;
    assert!(matches!(stolen, Err(PlayError::WrongSource { .. })), "{stolen:?}");
    let stolen = batch("x", &[from("lobby", "p", 10), drawn(&[1], "p")]);
    let stolen = play.enter_batch(&fixture.id, &stolen, stranger.key).await;
    assert!(matches!(stolen, Err(PlayError::WrongSource { .. })), "{stolen:?}");
    let again = play.enter(&fixture.id, &id("a"), drawn(&[0], "p"), stranger).await;
    assert!(matches!(again, Err(PlayError::WrongSource { .. })), "{again:?}");
    let again = play.enter_batch(&fixture.id, &whole, stranger.key).await;
    assert!(matches!(again, Err(PlayError::WrongSource { .. })), "{again:?}");
    assert_eq!(fixture.state().await, state);
    // The definition in force names the source no more: its keys are those of the definition of the entry.
    fixture.status(Status::Paused).await;
    let mut without = shared();
    without["sources"].as_object_mut().expect("an object").remove("slot");
    fixture.define(&without).await;
    fixture.status(Status::Open).await;
    let again = play.enter(&fixture.id, &id("a"), drawn(&[0], "p"), stranger).await;
    assert!(matches!(again, Err(PlayError::WrongSource { .. })), "{again:?}");
    let own = enter(&fixture, "a", drawn(&[0], "p")).await.expect("remembered");
    assert!(own.replayed);
    let lobby = play
        .enter(&fixture.id, &id("l"), from("lobby", "p", 10), stranger)
        .await;
    assert!(!lobby.expect("every key may").replayed);
}

/// One call with runs of several sources: their records share one of the call.
#[tokio::test]
async fn entries_of_a_call_are_found_with_what_their_sources_add() {
    let fixture = JackpotFixture::with(&shared()).await;
    let all = ["lobby", "vip", "slot", "vip", "lobby", "slot"];
    let entries = (0..30_usize).map(|i| EnterEntry {
        entry_id: format!("e{i}"),
        sent: match all[i % 6] {
            "slot" => drawn(&[0], "p"),
            source => from(source, "p", 1_000 + (i as u64 % 4) * 500),
        },
        rank: 0,
    });
    let entries = entries.collect::<Vec<_>>();
    let entered = fixture.enter(&entries).await;
    let (known, _) = fixture.fresh().await;
    for (entry, reply) in entries.iter().zip(entered.replies) {
        let EntryReply::Taken(record) = reply else {
            panic!("{reply:?}");
        };
        let found = scripts::lookup(&fixture.store, &fixture.keys, known.mark(), &entry.entry_id).await;
        let found = found.expect("readable").expect("remembered");
        assert_eq!((found.record, found.sent), (Some(record), Some(entry.sent.clone())));
    }
    let meters = fixture.snapshot().await.meters;
    let of = |entry: &EnterEntry| match entry.sent.source_text() {
        Some("vip") => 50_000_000,
        Some("slot") => entry.sent.stake.get() * 30_000,
        _ => entry.sent.stake.get() * 15_001,
    };
    let brought: u64 = entries.iter().map(of).sum();
    let contributed: u64 = meters.iter().map(|meter| meter.contributed).sum();
    assert!(brought / 1_000_000 - contributed < 2, "{brought} {contributed}");
    fixture.assert_rebuilds().await;
}

/// Entries of all sources, alone and in a batch.
async fn played(fixture: &JackpotLedger) {
    fixture.fund("first", 1_000).await;
    for i in 0..12_u64 {
        let sent = Sent {
            client_seed: (i % 2 == 0).then(|| ClientSeed::parse("mine").expect("a seed")),
            ..from(
                ["lobby", "vip"][usize::try_from(i % 2).expect("small")],
                &format!("p{}", i % 3),
                100 + i * 37,
            )
        };
        enter(fixture, &format!("e{i}"), sent).await.expect("played");
    }
    for (i, ranks) in [&[0][..], &[3], &[2, 0], &[1]].into_iter().enumerate() {
        enter(fixture, &format!("x{i}"), drawn(ranks, "p1"))
            .await
            .expect("played");
    }
    let whole = [
        from("vip", "p0", 1),
        drawn(&[2], "p1"),
        from("lobby", "p2", 999),
        drawn(&[0], "p0"),
    ];
    let taken = play(fixture, u64::MAX)
        .enter_batch(&fixture.id, &batch("b", &whole), GAME.key)
        .await;
    taken.expect("taken");
}

async fn what_each_source_brings_and_wins_is_in_the_ledger_and_can_be_asked_for(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &shared()).await;
    played(&fixture).await;
    fixture.project().await;
    fixture.assert_complete().await;
    let queries = Queries::new(fixture.ledger.sql.clone(), 30);
    let (mut contributed_micro, mut paid, mut entries, mut payouts) = (0, 0, 0, 0);
    for source in ["lobby", "vip", "slot", "attic"] {
        let found = queries.source_meters(&fixture.id, &id(source)).await.expect("readable");
        let brought: i64 = found
            .meters
            .iter()
            .map(|m| m.contributed * 1_000_000 + m.contributed_micro)
            .sum();
        let won: i64 = found.meters.iter().map(|meter| meter.paid).sum();
        let times: i64 = found.meters.iter().map(|meter| meter.payouts).sum();
        match source {
            "vip" => assert_eq!((found.entries, brought), (7, 7 * 50_000_000)),
            "slot" => assert_eq!((found.entries, brought), (6, 6 * 30_000_000)),
            "attic" => assert_eq!((found.entries, brought, won), (0, 0, 0)),
            _ => {}
        }
        (contributed_micro, paid) = (contributed_micro + brought, paid + won);
        (entries, payouts) = (entries + found.entries, payouts + times);
        listed_by(&queries, &fixture.id, source, found.entries, won, times).await;
    }
    let redis = fixture.snapshot().await.meters;
    let sum = |of: fn(&jackpot::jackpot::view::Meter) -> u64| redis.iter().map(of).sum::<u64>();
    let whole = i64::try_from(sum(|meter| meter.contributed)).expect("small");
    assert!(
        (contributed_micro / 1_000_000 - whole).abs() < 2,
        "{contributed_micro} {whole}"
    );
    assert_eq!(paid.unsigned_abs(), sum(|meter| meter.paid));
    assert_eq!(entries, 20);
    assert!(payouts > 6, "{payouts}");
}

/// The lists of a source have exactly its rows, page by page.
async fn listed_by(queries: &Queries, jackpot: &Id, source: &str, entries: i64, won: i64, times: i64) {
    let all = PayoutFilters {
        jackpot_id: Some(jackpot.clone()),
        ..PayoutFilters::default()
    };
    let of_source = PayoutFilters {
        source_id: Some(id(source)),
        ..all.clone()
    };
    let all = queries.payouts(&all, None, 100).await.expect("readable").items;
    let expected = all
        .into_iter()
        .filter(|row| row.source_id.as_deref() == Some(source))
        .collect::<Vec<_>>();
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = queries.payouts(&of_source, after, 2).await.expect("readable");
        rows.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(rows, expected, "{source}");
    let paid = rows.iter().map(|row| row.receipt.amount.get()).sum::<u64>();
    assert_eq!(i64::try_from(paid).expect("small"), won);
    assert_eq!(i64::try_from(rows.len()).expect("small"), times);

    let of_source = EntryFilters {
        player_id: None,
        jackpot_id: Some(jackpot.clone()),
        source_id: Some(id(source)),
        only: None,
        between: Between::default(),
    };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = queries.entries(&of_source, after, 3).await.expect("readable");
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(i64::try_from(found.len()).expect("small"), entries, "{source}");
    assert!(found.iter().all(|row| row.source_id.as_deref() == Some(source)));
    assert!(found.is_sorted_by(|a, b| a.sequence > b.sequence));
    let of_player = EntryFilters {
        player_id: Some(person("p1")),
        ..of_source
    };
    let page = queries.entries(&of_player, None, 100).await.expect("readable");
    let expected = found
        .into_iter()
        .filter(|row| row.player_id == "p1")
        .collect::<Vec<_>>();
    assert_eq!(page.items, expected, "{source}");

    let postings = PostingFilters {
        jackpot_id: jackpot.clone(),
        source_id: Some(id(source)),
        between: Between::default(),
    };
    let page = queries.postings(&postings, None, 1_000).await.expect("readable");
    let of = |account: &str| {
        page.items
            .iter()
            .filter(|row| row.account == account)
            .map(|row| row.amount)
            .sum::<i64>()
    };
    assert_eq!(of("payouts"), won);
    assert!(
        page.items
            .iter()
            .all(|row| matches!(row.account.as_str(), "payouts" | "contributions"))
    );
}

async fn an_entry_that_was_pending_keeps_its_source_and_its_ranks(db: LedgerDb) {
    let fixture = JackpotLedger::with(db, &shared()).await;
    // The instance that took it died before its second attempt.
    let entry = EnterEntry {
        entry_id: "late".to_owned(),
        sent: drawn(&[1, 3], "p9"),
        rank: 1,
    };
    let taken = fixture.enter(std::slice::from_ref(&entry)).await.replies.remove(0);
    let EntryReply::Taken(record) = taken else {
        panic!("{taken:?}");
    };
    assert!(matches!(&record.state, State::Pending { sent, .. } if *sent == entry.sent));
    fixture.project().await;
    let keys: Vec<String> = fixture
        .raw(redis::cmd("KEYS").arg(format!("jp:{{{}}}:*", fixture.id)))
        .await;
    fixture.raw::<u64>(redis::cmd("DEL").arg(keys)).await;
    fixture.heal().await;
    fixture.fund("more", 10).await;
    let (known, _) = fixture.fresh().await;
    let found = scripts::lookup(&fixture.store, &fixture.keys, known.mark(), "late").await;
    let restored = found.expect("readable").expect("restored").record.expect("a record");
    assert_eq!(
        (&restored.state, &restored.fingerprint),
        (&record.state, &record.fingerprint)
    );
    let finishing = play(&fixture, u64::MAX)
        .finish_pending(&fixture.id, "late", restored)
        .await;
    finishing.expect("finished");
    let again = enter(&fixture, "late", entry.sent.clone()).await.expect("remembered");
    assert_eq!(results(&again), [(1, "retry"), (3, "paid")]);
    fixture.project().await;
    fixture.assert_complete().await;
    let queries = Queries::new(fixture.ledger.sql.clone(), 30);
    let found = queries.source_meters(&fixture.id, &id("slot")).await.expect("readable");
    let mini = found
        .meters
        .iter()
        .find(|meter| meter.tier == "mini")
        .expect("its tier");
    assert_eq!((found.entries, mini.paid, mini.payouts), (1, 1, 1));
}

#[tokio::test]
async fn an_export_says_what_is_not_the_services_and_names_what_was_changed() {
    let fixture = JackpotFixture::with(&shared()).await;
    for i in 0..10 {
        enter(&fixture, &format!("e{i}"), from("vip", "p", 10))
            .await
            .expect("played");
        enter(&fixture, &format!("x{i}"), drawn(&[1, 2, 0], "p"))
            .await
            .expect("played");
    }
    let whole = batch("b", &[drawn(&[3], "p"), from("lobby", "p", 10), drawn(&[1, 0], "p")]);
    let taken = play(&fixture, u64::MAX)
        .enter_batch(&fixture.id, &whole, GAME.key)
        .await;
    taken.expect("taken");
    let by = operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("rotated");
    let story = export(&fixture).await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    assert_eq!((report.counts.entries, report.counts.draws), (23, 11));
    let said = "draws of 12 entries of external sources: their games drew them";
    assert!(report.unchecked.iter().any(|what| what.contains(said)), "{report}");

    let n = story.find(|body| body.contains("\"batch\":\"b\""));
    for (before, after, what) in [
        ("slot 3", "slot 2", "brought rank 2; it claims rank 3"),
        ("slot 1,0", "slot 1,2", "draws rank 2 on attempt 1"),
        ("* lobby", "* vip", "the amounts of"),
        ("* lobby", "* attic", "is none of the jackpot's sources"),
        (" slot 3", " lobby 3", "field 'amounts' is missing or unreadable"),
    ] {
        let mut forged = story.clone();
        forged.edit(n, |fields| {
            let block = fields.get_mut("block").expect("the entries");
            let changed = block.replacen(before, after, 1);
            assert_ne!(*block, changed, "{before}");
            *block = changed;
        });
        forged.close();
        let report = forged.verify();
        let found = report
            .problems
            .iter()
            .any(|p| p.place == Place::Event(n) && p.what.contains(what));
        assert!(found, "{before} {after}\n{report}");
    }
}
