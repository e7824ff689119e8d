//! What players see of a jackpot without a key: its page with the live pools, the rules in words, winners, commitments and
//! the check of a draw; a file that checks draws without a connection; the ticker for other sites. It has no rule of its
//! own: it asks the public part of the API as anyone may, so it shows nothing that is not public.
//!
//! - `reading`, `shown`: what the pages show, read once for all players.
//! - `page`: the page, with the rules in words of [`jackpot_ui::rules`]. `check`: the check of a draw, in the page and as a file.
//! - `embed`: the ticker and its demo page. `failure`: a page that says why not.

mod check;
mod embed;
mod failure;
mod page;
mod reading;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, ServiceConfig};
use jackpot_ui::Asset;

use jackpot_kernel::settings::Settings;
use shown::Jackpots;

/// Recomputes draws, by code of its own.
static DRAW: Asset = Asset::new("draw", "js", include_str!("draw.js"));
/// The form that checks an entry.
static CHECK: Asset = Asset::new("check", "js", include_str!("check.js"));
/// Status and winners, live.
static PAGE: Asset = Asset::new("page", "js", include_str!("page.js"));
/// The ticker as the page loads it. Other sites load it from an address that stays.
static TICKER: Asset = Asset::new("ticker", "js", include_str!("ticker.js"));
/// The address of this service in the lines to copy.
static DEMO: Asset = Asset::new("demo", "js", include_str!("demo.js"));

/// The files that the pages load.
pub fn assets() -> Vec<&'static Asset> {
    vec![&DRAW, &CHECK, &PAGE, &TICKER, &DEMO]
}

/// What the pages of an instance share.
pub struct Public {
    jackpots: Jackpots,
    /// How long an epoch lasts, unless it is ended before.
    epoch: Duration,
}

/// The routes.
pub fn mount(settings: &Settings) -> Arc<dyn Fn(&mut ServiceConfig) + Send + Sync> {
    let public = Data::new(Public {
        jackpots: Jackpots::default(),
        epoch: Duration::from_secs(settings.fairness.retention_s),
    });
    Arc::new(move |config| {
        config.app_data(public.clone()).configure(routes);
    })
}

fn routes(config: &mut ServiceConfig) {
    config
        .route("/j/{id}", jackpot_kernel::http::get().to(page::get))
        .route("/j/{id}/check.html", jackpot_kernel::http::get().to(check::get))
        .route("/embed/ticker.js", jackpot_kernel::http::get().to(embed::script))
        .route("/embed/{id}", jackpot_kernel::http::get().to(embed::demo));
}
