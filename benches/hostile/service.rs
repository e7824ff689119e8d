//! The attacked service: a build of the product with its embedded Redis and default settings, except for the port, the
//! directory, and what the attack needs. An older build does not have the newer settings.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;
use crate::process::product;
use crate::service::Service;

/// The jackpot that is played.
pub(super) const JACKPOT: &str = "hostile";

/// `program`: another build. `http`: settings of that section.
pub(super) async fn start(place: &Path, program: Option<&Path>, http: &Value) -> Outcome<Service> {
    let command = program.map_or_else(product, |program| {
        let mut command = Command::new(program);
        command.arg("serve");
        command
    });
    let service = Service::with(place, command, json!({ "http": http }), None).await?;
    let definition = json!({
        "id": JACKPOT, "name": "Hostile", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0,
                   "cap": null, "must_hit_by": null}],
        "odds": {"total": 1_000_000, "ranks": []}, "public_meter": true,
    });
    let path = format!("/v1/jackpots/{JACKPOT}");
    service.target.call("PUT", &path, &definition).await?;
    Ok(service)
}
