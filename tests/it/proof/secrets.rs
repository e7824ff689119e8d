//! An export of epochs under two secrets, by the commands that an auditor uses.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::support::given::document;
use crate::support::prelude::*;
use crate::support::service::MASTER_SECRET;

const PATIENCE: Duration = Duration::from_secs(20);
const NEW_SECRET: &str = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";

async fn play(service: &Service, prefix: &str) {
    for i in 0..30 {
        let seed = (i % 2 == 0).then_some("mine");
        let body = json!({"entry_id": format!("{prefix}{i}"), "player_id": "p1", "stake": 100, "client_seed": seed});
        service.post("/v1/jackpots/glass/entries", body).await.is(201);
    }
}

async fn rotate(service: &Service) {
    service
        .post("/v1/jackpots/glass/fairness/rotate", json!({"reason": "a test"}))
        .await
        .is(200);
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the export was written");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[tokio::test]
async fn heavy_an_export_of_three_epochs_under_two_secrets_is_right() {
    let mut service = Service::start().await;
    let odds =
        json!({"total": 10, "ranks": [{"rank": 1, "weight": 4, "prize": {"pool": {"tier": "grand", "take": "all"}}}]});
    let tiers = json!([{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 3}]);
    let definition = document("glass", &json!({"odds": odds, "tiers": tiers}));
    service.put("/v1/jackpots/glass", definition).await.is(201);
    play(&service, "a").await;
    rotate(&service).await;
    play(&service, "b").await;
    assert!(service.stop().await.success());
    service.set("JACKPOT__FAIRNESS__MASTER_SECRET", NEW_SECRET);
    service.set("JACKPOT__FAIRNESS__PREVIOUS_SECRETS", MASTER_SECRET);
    service.restart().await;
    play(&service, "c").await;
    rotate(&service).await;
    play(&service, "d").await;
    rotate(&service).await;
    eventually(PATIENCE, "the seeds of three epochs are published", async || {
        let epochs = service.get("/v1/jackpots/glass/fairness").await.body["epochs"].clone();
        let shown = epochs.as_array()?.iter().filter(|epoch| epoch["seed"].is_string());
        (shown.count() == 3).then_some(())
    })
    .await;

    let path = service.data_dir().join("glass.ndjson");
    let file = path.to_str().expect("text");
    let exported = service.command(&["export", "glass", "--output", file]);
    exported.done();
    let epochs = lines(&path)
        .into_iter()
        .filter(|line| line["kind"] == "epoch")
        .collect::<Vec<_>>();
    let of = |member: &str| epochs.iter().map(|epoch| epoch[member].to_string()).collect::<Vec<_>>();
    let ids = of("secret_id");
    assert_eq!(ids[0], "\"abc44bcf0634a438\"");
    assert!(
        ids.len() == 4 && ids[0] == ids[1] && ids[1] != ids[2] && ids[2] == ids[3],
        "{ids:?}"
    );
    assert_eq!(of("nonce").into_iter().collect::<BTreeSet<_>>().len(), 4);
    let verified = service.command(&["verify", file]);
    assert_eq!(verified.status.code(), Some(0), "{}", verified.words());
    let told = verified.words();
    told.says("draws       120 entries");
    told.says("of epochs with a published seed: 3");
    told.says("epochs      4 under 2 secrets");
    println!("{told}");
    // First the ledger itself, with both secrets; then another nonce in the export.
    assert!(service.stop().await.success());
    let ledger = service.command(&["verify", "--ledger"]);
    assert_eq!(ledger.status.code(), Some(0), "{}", ledger.words());
    let nonce = epochs[1]["nonce"].as_str().expect("a nonce");
    let changed = std::fs::read_to_string(&path)
        .expect("text")
        .replacen(nonce, &"0".repeat(32), 1);
    std::fs::write(&path, changed).expect("written");
    let verified = service.command(&["verify", file]);
    assert_eq!(verified.status.code(), Some(1), "{}", verified.words());
    verified.says("epoch 2");
}
