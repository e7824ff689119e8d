//! An instance that takes many streams over at a start reads them together. It finds what one that takes a few over finds.

use sqlx::{Connection, SqliteConnection};

use crate::fault::ledger_support::{cursor, outside};
use crate::fault::support::{create, embedded, enter, lively};
use crate::support::prelude::*;

/// More than are read one by one.
const JACKPOTS: usize = 40;
const FORGED: &str = "many-17";

fn id(n: usize) -> String {
    format!("many-{n}")
}

async fn damage(service: &Service) {
    let file = service.data_dir().join("ledger.sqlite");
    let mut sql = SqliteConnection::connect(&format!("sqlite://{}", file.display()))
        .await
        .expect("the file can be opened");
    let text = "UPDATE events SET body = '{}' WHERE kind = 'jackpot' AND id = 'many-17' AND n = 2";
    let done = sqlx::query(text).execute(&mut sql).await.expect("it can be changed");
    assert_eq!(done.rows_affected(), 1);
    sql.close().await.expect("it can be closed");
}

#[tokio::test]
async fn many_streams_are_taken_over_together_and_nothing_is_written_behind_a_damaged_one() {
    let (mut service, _url) = embedded(&[]).await;
    for n in 0..JACKPOTS {
        create(&service, lively(&id(n))).await;
        for entry in 0..5 {
            enter(&service, &id(n), &format!("e{entry}")).await.done();
        }
    }
    // A stop in order brings the ledger up to date.
    assert!(service.stop().await.success());
    damage(&service).await;
    service.restart().await;
    let sql = outside(&service, "").await;
    let before = cursor(&sql, FORGED).await;
    assert!(before > 3);
    // Whether or not its tail has been checked by now.
    let _late = enter(&service, FORGED, "late").await;
    let mut tries = 0;
    eventually(PATIENCE, "the damaged one is suspended", async || {
        tries += 1;
        let answer = enter(&service, FORGED, &format!("after-{tries}")).await;
        (answer.body["code"] == "jackpot-suspended").then_some(())
    })
    .await;
    assert_eq!(cursor(&sql, FORGED).await, before, "nothing was written behind it");
    let ready = service.get("/readyz").await;
    assert_eq!(ready.body["refused_subjects"][0]["id"], FORGED, "{}", ready.text);
    assert_eq!(ready.body["refused"], json!({"jackpots": 1, "coupons": 0, "rooms": 0}));
    for n in (0..JACKPOTS).filter(|n| id(*n) != FORGED) {
        let before = cursor(&sql, &id(n)).await;
        enter(&service, &id(n), "late").await.done();
        eventually(PATIENCE, "the ledger goes on with the others", async || {
            (cursor(&sql, &id(n)).await > before).then_some(())
        })
        .await;
    }
    sql.close().await;
}
