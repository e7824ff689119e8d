//! Odds by stake: each path of an entry draws by them, and the verifier recomputes it.

use jackpot::jackpot::play::By;
use std::collections::BTreeSet;

use jackpot::proof::verify::Place;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;

use super::names;
use super::story::export;
use crate::jackpot::batch::support::{batch, play};
use crate::jackpot::fixture::{JackpotFixture, operator, sent, tier};
use crate::support::prelude::*;

/// At a stake of 10 to 19 every second entry draws a prize, at 20 to 29 every one; few pools are large enough.
fn by_stake() -> Value {
    json!({"contribution": {"fixed": 5}, "max_redraws": 3, "max_stake": 29,
        "tiers": [tier("grand", 1_000_000, &json!({"min_payout": 40}))],
        "odds": {"total": 20, "per_stake": 10, "ranks": [
            {"rank": 1, "weight": 4, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 2, "weight": 4, "prize": {"fixed": {"tier": "grand", "amount": 60}}},
            {"rank": 3, "weight": 2, "prize": {"fixed": {"tier": "grand", "amount": 7}}}]}})
}

/// Of every stake that the definition allows.
fn entries(count: u64) -> Vec<Sent> {
    (0..count).map(|i| sent(&format!("p{i}"), 10 + i * 7 % 20)).collect()
}

#[tokio::test]
async fn entries_and_batches_are_drawn_by_their_stakes() {
    let fixture = JackpotFixture::with(&by_stake()).await;
    let play = play(&fixture, u64::MAX);
    let (_, view) = fixture.fresh().await;
    let (odds, mut results) = (view.definition.odds(), BTreeSet::new());
    let rank_of = |entry_id: &str, sent: &Sent| view.seed.rank(entry_id, None, 0, odds.at(sent.stake));
    for (i, sent) in entries(80).into_iter().enumerate() {
        let entry_id = Id::parse(&format!("e{i}")).expect("an id");
        let rank = rank_of(entry_id.as_str(), &sent);
        let stake = sent.stake;
        let played = play
            .enter(&fixture.id, &entry_id, sent, By::default())
            .await
            .expect("played");
        assert_eq!(played.attempts[0].rank, rank, "{entry_id} of stake {stake}");
        assert!(rank > 0 || stake < Minor::try_from(20).expect("in range"));
        results.extend(played.attempts.iter().map(|attempt| attempt.result.as_str()));
    }
    assert_eq!(results, BTreeSet::from(["none", "paid", "retry"]));

    let sent = entries(60);
    let played = play
        .enter_batch(&fixture.id, &batch("b", &sent), "")
        .await
        .expect("played");
    let drawn = (1..)
        .zip(&sent)
        .filter(|(index, sent)| rank_of(&format!("b:{index}"), sent) > 0);
    let drawn = drawn.map(|(index, _)| index).collect::<Vec<u64>>();
    assert_eq!(played.record.winners, drawn);

    let by = operator();
    let end = fixture.operate.end_epoch(&fixture.id, "a test".to_owned(), &by);
    end.await.expect("rotated");
    let story = export(&fixture).await;
    let report = story.verify();
    assert!(report.is_right(), "{report}");
    assert_eq!((report.counts.entries, report.counts.draws), (140, 140));

    // Another stake of the same contribution would have had other chances.
    let n = story.find(|body| body.contains("\"batch\":\"b\""));
    let mut forged = story.clone();
    forged.edit(n, |fields| {
        let block = fields.get_mut("block").expect("the entries");
        *block = block.lines().map(lowered).collect::<Vec<_>>().join("\n");
    });
    forged.close();
    names(&forged.verify(), &Place::Event(n), "draws rank 0");
}

/// The line of an entry that staked the least.
fn lowered(line: &str) -> String {
    let words = line.split(' ').collect::<Vec<_>>();
    format!("{} 10 {}", words[0], words[2])
}
