//! FUNCTION FLUSH again and again while players enter: the store sends a forgotten script again, unnoticed.

use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{connection, create, embedded, lively};
use crate::support::prelude::*;

const JACKPOT: &str = "flushed";
const PLAYERS: usize = 8;
const ENTRIES: usize = 400;
const FLUSHES: usize = 50;

#[tokio::test]
async fn heavy_nothing_fails_while_the_scripts_are_flushed_under_load() {
    let (service, url) = embedded(&[]).await;
    create(&service, lively(JACKPOT)).await;
    let mut redis = connection(&url).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    let mut flushes = 0;
    let flushing = async {
        eventually(PATIENCE, "the scripts were flushed often", async || {
            redis::cmd("FUNCTION")
                .arg("FLUSH")
                .exec_async(&mut redis)
                .await
                .expect("FUNCTION FLUSH");
            flushes += 1;
            (flushes >= FLUSHES).then_some(())
        })
        .await;
    };
    tokio::join!(flushing, load.until_answered(ENTRIES));
    let played = load.finish().await;
    let failed: Vec<_> = played.iter().filter(|one| !one.at_once).map(|one| &one.entry).collect();
    assert!(failed.is_empty(), "each was answered at its first try, but {failed:?}");
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}
