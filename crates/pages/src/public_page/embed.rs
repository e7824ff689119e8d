//! The ticker for other sites, at an address that stays, and a page that shows how it looks.

use std::sync::LazyLock;

use actix_web::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderName, HeaderValue};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::jackpot::TierPool;
use jackpot_ui::Words;
use jackpot_ui::frame::Frame;
use jackpot_ui::money::money;
use maud::{Markup, html};

use super::reading::Reading;
use super::shown::{self, Kind};
use super::{DEMO, Public, TICKER};
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::inside::Inside;

/// How long sites may keep the script, in seconds: a new version of the service reaches them within an hour.
const KEPT_S: u32 = 3_600;

const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
const EVERYONE: HeaderValue = HeaderValue::from_static("*");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

static SCRIPT: LazyLock<Page> = LazyLock::new(|| Page::new(TICKER.content()));

/// The classes of the demo's tickers.
const LOOKS: [&str; 3] = ["", "ticker-dark", "ticker-large"];

/// The script. Any site may load it; what it may read is another matter, which `origins` decides.
pub async fn script(request: HttpRequest) -> HttpResponse {
    let mut answer = SCRIPT.answer(&request, TICKER.media_type(), KEPT_S);
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, EVERYONE);
    headers.insert(RESOURCE_POLICY, CROSS_ORIGIN);
    answer
}

pub async fn demo(id: Path<String>, request: HttpRequest, inside: Inside, public: Data<Public>) -> HttpResponse {
    shown::answer(&public, &inside, &request, &id, Kind::Demo, page).await
}

fn page(_: &Public, words: Words, reading: &Reading) -> String {
    let title = words.tv("embed-title", [("name", (&reading.definition().name).into())]);
    let frame = Frame {
        scripts: &[&TICKER, &DEMO],
        ..Frame::new(words, &title, "public")
    };
    let id = &reading.meter.jackpot_id;
    let content = html! {
        header { h1 { (title) } }
        main {
            p { (words.t("embed-about")) }
            @for pool in &reading.meter.meters { (looks(words, reading, pool)) }
            section.panel.stack {
                h2 { (words.t("embed-how")) }
                ol.steps {
                    li { (words.t("embed-step-origins")) pre tabindex="0" { code { "\"origins\": [\"https://games.example\"]" } } }
                    li { (words.t("embed-step-script")) pre tabindex="0" { code { "<script src=\"" span data-host {} "/embed/ticker.js\" defer></script>" } } }
                    li { (words.t("embed-step-tag")) @for pool in &reading.meter.meters {
                        pre tabindex="0" { code { "<jackpot-ticker src=\"" span data-host {} "\" jackpot=\"" (id) "\" tier=\"" (pool.tier) "\"></jackpot-ticker>" } }
                    } }
                }
            }
            p { a href=(format!("/j/{id}")) { (words.t("embed-page")) } }
        }
    };
    frame.around(&content).into_string()
}

/// The ticker of a tier, in several looks.
fn looks(words: Words, reading: &Reading, pool: &TierPool) -> Markup {
    let currency = reading.definition().currency;
    let label = words.tv("public-pool", [("tier", (&pool.tier).into())]);
    html! {
        section.panel {
            h2 { (label) }
            p.row.apart { @for look in LOOKS {
                jackpot-ticker class=(look) jackpot=(reading.meter.jackpot_id) tier=(pool.tier) currency=(currency)
                    digits=(currency.digits()) locale=(words.0.code()) label=(label) { (money(words.0, currency.amount(pool.pool))) }
            } }
        }
    }
}
