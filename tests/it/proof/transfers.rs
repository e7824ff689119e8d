//! Transfers in an export: the verifier recomputes what a jackpot gave, and where the other one put it.

use jackpot::proof::verify::Place;
use jackpot_api::jackpot::Status;
use jackpot_core::jackpot::transfer::Part;
use jackpot_core::wire::Field as _;

use super::story::{Story, export};
use super::{names, tampered};
use crate::jackpot::fixture::tier;
use crate::jackpot::transfer::Pair;
use crate::support::prelude::*;

/// A jackpot that gave and one that received twice, the second time beyond its cap.
async fn stories() -> (Story, Story) {
    let rules = |cap: u64| {
        json!({
            "contribution": {"rate_ppm": 15_001},
            "tiers": [tier("grand", 1_000_000, &json!({"reserve_ppm": 333_333, "cap": cap}))],
            "odds": {"total": 1, "ranks": []},
        })
    };
    let pair = Pair::with(&rules(50), &rules(30)).await;
    for (transfer_id, entries) in [("t", 31), ("u", 29)] {
        for i in 0..entries {
            pair.source.take(&format!("{transfer_id}{i}"), 0).await;
        }
        pair.target.take(&format!("{transfer_id}-own"), 0).await;
        pair.source.status(Status::Paused).await;
        // Room that no transfer uses.
        let looked = pair.look("other", &[("grand", "grand")]).await;
        pair.expect("other", &looked).await;
        pair.transfer(transfer_id, &[("grand", "grand")]).await;
        pair.source.status(Status::Open).await;
    }
    assert!(pair.target.money().await.2 > 0, "beyond the cap");
    pair.source.assert_rebuilds().await;
    pair.target.assert_rebuilds().await;
    (export(&pair.source).await, export(&pair.target).await)
}

/// One unit more in the pool of the first part that this event states.
fn one_more(story: &mut Story, n: u64) {
    story.edit(n, |fields| {
        let mut parts = Vec::<Part>::read(&fields["parts"]).expect("parts");
        parts[0].pool += 1;
        fields.insert("parts".to_owned(), parts.text());
    });
    story.close();
}

#[tokio::test]
async fn both_sides_of_transfers_are_recomputed() {
    let (source, target) = stories().await;
    for story in [&source, &target] {
        let report = story.verify();
        assert!(report.is_right(), "{report}");
        assert_eq!(report.counts.replayed, story.events());
    }
    let of_type = |story: &Story, kind: &str| story.all(|body| body.contains(&format!("\"type\":\"{kind}\"")));
    let (gives, expects, receives) = (
        of_type(&source, "give"),
        of_type(&target, "expect"),
        of_type(&target, "receive"),
    );
    assert_eq!((gives.len(), expects.len(), receives.len()), (2, 4, 2));
    let changed = "and the tier holds";
    tampered(
        &source,
        |story| one_more(story, gives[0]),
        &Place::Event(gives[0]),
        changed,
    );
    for n in expects.into_iter().chain(receives.clone()) {
        tampered(&target, |story| one_more(story, n), &Place::Event(n), "");
    }
    // The same money twice, as if the first one had not come in.
    let mut twice = target.clone();
    let first = twice.field(receives[0], "transfer");
    twice.edit(receives[1], |fields| {
        fields.insert("transfer".to_owned(), first);
    });
    twice.close();
    names(&twice.verify(), &Place::Event(receives[1]), "came in before");
}
