//! A jackpot with thousands of entries waiting takes turns with one that has a single one.

use jackpot::jackpot::play::By;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use jackpot_core::ids::Id;

use super::fixture::{Instance, MAX_BATCH, ids, nobody_wins};
use crate::support::given::sent;

#[tokio::test]
async fn a_quiet_jackpot_is_answered_beside_a_hot_one() {
    const HOT: usize = 10 * MAX_BATCH;
    let instance = Instance::with(&nobody_wins()).await;
    let quiet = instance.another(&nobody_wins()).await;
    let (done, all) = (AtomicUsize::new(0), ids("e", HOT));
    let hot = join_all(all.iter().map(async |id| {
        instance.enter(id).await.expect("taken");
        done.fetch_add(1, Ordering::Relaxed)
    }));
    let beside = async {
        for n in 0..3 {
            let id = Id::parse(&format!("q{n}")).expect("an id");
            instance
                .play
                .enter(&quiet, &id, sent("p", 100), By::default())
                .await
                .expect("taken");
        }
        done.load(Ordering::Relaxed)
    };
    let (_, answered_before) = tokio::join!(hot, beside);
    assert!(
        answered_before <= HOT / 2,
        "three entries one after the other waited for {answered_before} of {HOT}"
    );
    assert_eq!(instance.entering(), HOT / MAX_BATCH + 3);
}
