//! The operators' console: pages that call the API in this process, with the key of a session. It has no rule of its own:
//! what a page shows comes from the API, and what an action does is a call of the API. So a page can do exactly what its
//! key can do, and every action is in the audit trail.
//!
//! - `session`, `signed_out`, `sign_in`: who is there.
//! - `desk`: what every page has: the operator, the texts, the calls, the frame.
//! - `form`: fields with their errors. `list`: what lists share. `action`: what an action will change, its reason, then the action.
//! - `document`: definitions of coupons and rooms as forms.
//! - `define`: the definition of a jackpot as a form.
//! - `reasons`: reasons of actions whose events have none. `files`: lists as files. `shared`: what all open consoles
//!   read together.
//! - The other files are one page, or the pages of one thing.

mod action;
mod adjust;
mod api_keys;
mod audit;
mod commands;
mod compared;
mod coupons;
mod define;
mod desk;
mod document;
mod emergency;
mod entries;
mod failure;
mod files;
mod form;
mod guide;
mod held;
mod instances;
mod jackpot;
mod jackpots;
mod ledger;
mod links;
mod list;
mod overview;
mod payouts;
mod reasons;
mod reports;
mod reverse;
mod rooms;
mod session;
mod settle;
mod shared;
mod sign_in;
mod signature;
mod signed_out;
mod state;
mod status;
mod subscriptions;
mod transfer;
mod waiting;

use std::sync::Arc;

use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{FromRequest, Handler, Responder};
use jackpot_ui::Asset;

// What most pages are made of.
use desk::{Desk, Page, Posted, Section};
use failure::Failure;
use form::{Field, Form, Kind};
pub use state::Console;

/// The script of every page. Pages work without it: it brings live values.
static SCRIPT: Asset = Asset::new("console", "js", include_str!("console.js"));

/// The files that the console's pages load.
pub fn assets() -> Vec<&'static Asset> {
    vec![&SCRIPT, &coupons::UPLOAD]
}

/// The routes of all pages.
pub fn mount(console: Console) -> Arc<dyn Fn(&mut ServiceConfig) + Send + Sync> {
    let console = Data::new(console);
    Arc::new(move |config| {
        config.app_data(console.clone()).configure(routes);
    })
}

/// The routes of a form: it is shown, and it is sent.
fn form_routes<G, A, P, B>(path: &'static str, get: G, post: P) -> impl FnOnce(&mut ServiceConfig)
where
    G: Handler<A, Output: Responder + 'static>,
    A: FromRequest + 'static,
    P: Handler<B, Output: Responder + 'static>,
    B: FromRequest + 'static,
{
    move |config| {
        config
            .route(path, jackpot_kernel::http::get().to(get))
            .route(path, web::post().to(post));
    }
}

fn routes(config: &mut ServiceConfig) {
    config
        .route("/console", jackpot_kernel::http::get().to(overview::to_overview))
        .route("/console/", jackpot_kernel::http::get().to(overview::get))
        .configure(form_routes("/console/sign-in", sign_in::get, sign_in::post))
        .route("/console/sign-out", web::post().to(sign_in::leave))
        .route("/console/live/{path:.*}", jackpot_kernel::http::get().to(desk::live))
        .configure(jackpots::routes)
        .configure(guide::routes)
        .configure(status::routes)
        .configure(adjust::routes)
        .configure(reverse::routes)
        .configure(transfer::routes)
        .configure(held::routes)
        .configure(coupons::routes)
        .configure(rooms::routes)
        .configure(define::routes)
        .configure(jackpot::routes)
        .configure(payouts::routes)
        .configure(settle::routes)
        .configure(entries::routes)
        // Before the comparison, whose path takes any kind.
        .configure(ledger::routes)
        .configure(compared::routes)
        .configure(reports::routes)
        .configure(subscriptions::routes)
        .configure(audit::routes)
        .configure(api_keys::routes)
        .configure(instances::routes)
        .configure(emergency::routes)
        .configure(commands::routes)
        .configure(files::routes)
        .route("/console/{rest:.*}", web::to(failure::no_page));
}
