//! Two instances of one service: a session holds on both, and ends on both.

use super::fixture::{Operator, between};
use crate::support::prelude::*;
use crate::support::service::MASTER_SECRET;

#[tokio::test]
async fn a_session_holds_on_every_instance_and_ends_everywhere() {
    let redis = own_redis(&[]).await;
    let database = LedgerDb::postgres().await;
    let environment = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", redis.url()),
        ("JACKPOT__FAIRNESS__MASTER_SECRET", MASTER_SECRET),
        database.environment(),
    ];
    let first = Service::start_with(&environment).await;
    let data = Service::directory();
    for file in ["keys.toml", "operator.key"] {
        std::fs::copy(first.data_dir().join(file), data.path().join(file)).expect("a key can be copied");
    }
    let second = Service::start_in(data, &environment).await;
    let here = Operator::sign_in(&first).await;
    let there = here.at(&second);
    let page = there.page("/console/").await;
    // A form of one instance is taken by the other.
    let token = between(&page.html, "name=\"form_token\" value=\"", "\"").to_owned();
    there.page("/console/jackpots").await;
    let left = here
        .send("/console/sign-out", vec![("form_token".to_owned(), token)], &[])
        .await;
    assert_eq!(left.location(), "/console/sign-in");
    eventually(PATIENCE, "the other instance knows it", async || {
        (there.get("/console/").await.status == StatusCode::SEE_OTHER).then_some(())
    })
    .await;
}
