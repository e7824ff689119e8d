//! Money of a jackpot that waits for a second owner: the lists, and the steps that approve or withdraw it.

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::ledger::{Adjustment, TransferRow};
use jackpot_ui::money::money;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::list::{heads, wide};
use super::{Desk, Failure, Form, Page, Posted, Section, form_routes, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;

const STEP: &str = "/console/jackpots/{id}/held/{kind}/{move_id}/{step}";

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/jackpots/{id}/held", jackpot_kernel::http::get().to(list))
        .configure(form_routes(STEP, get, post));
}

/// What waits.
enum Held {
    Adjustment(Adjustment),
    Transfer(TransferRow),
}

impl Held {
    fn kind(&self) -> &'static str {
        match self {
            Self::Adjustment(_) => "adjustments",
            Self::Transfer(_) => "transfers",
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Adjustment(one) => &one.adjustment_id,
            Self::Transfer(one) => &one.transfer_id,
        }
    }

    fn amount(&self) -> u64 {
        match self {
            Self::Adjustment(one) => one.amount.unsigned_abs(),
            Self::Transfer(one) => one
                .tiers
                .iter()
                .map(|part| part.pool + part.reserve + part.overflow)
                .sum(),
        }
    }

    /// Where it leaves, and where it goes.
    fn what(&self, desk: &Desk) -> String {
        match self {
            Self::Adjustment(one) => {
                let meter = one.meter.as_deref().unwrap_or_default();
                format!("{} · {}", one.tier, desk.words.t(&format!("side-{meter}")))
            }
            Self::Transfer(one) => {
                let tiers: Vec<_> = one.tiers.iter().map(|part| part.tier.as_str()).collect();
                format!("{} → {}", tiers.join(", "), one.to)
            }
        }
    }

    fn owner(&self) -> &str {
        match self {
            Self::Adjustment(one) => one.owner.as_deref().unwrap_or_default(),
            Self::Transfer(one) => one.owner.as_deref().unwrap_or_default(),
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Adjustment(one) => &one.reason,
            Self::Transfer(one) => one.reason.as_deref().unwrap_or_default(),
        }
    }
}

/// The steps that this key may take.
fn steps(desk: &Desk) -> Option<&'static str> {
    match (desk.may_approve(), desk.may_operate()) {
        (true, _) => Some("approve"),
        (_, true) => Some("withdraw"),
        _ => None,
    }
}

/// An amount; in minor units for a key that may not read which currency it is.
async fn shown(desk: &Desk, id: &str) -> impl Fn(u64) -> String {
    let jackpot = desk.ask::<Jackpot>(&links::jackpot_api(id)).await.ok();
    let words = desk.words;
    move |amount| match &jackpot {
        Some(jackpot) => money(words.0, jackpot.currency.amount(amount)),
        None => words.tv("held-minor", [("amount", amount.into())]),
    }
}

async fn held(desk: &Desk, id: &str) -> Result<Vec<Held>, Failure> {
    let path = |kind: &str| format!("{}/{kind}?state=held&limit=1000", links::jackpot_api(id));
    let adjustments: PageBody<Adjustment> = desk.get(&path("adjustments")).await?;
    let transfers: PageBody<TransferRow> = desk.get(&path("transfers")).await?;
    let adjustments = adjustments.items.into_iter().map(Held::Adjustment);
    Ok(adjustments
        .chain(transfers.items.into_iter().map(Held::Transfer))
        .collect())
}

async fn list(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let (rows, shown) = (held(&desk, &id).await?, shown(&desk, &id).await);
    let title = desk.words.tv("held-title", [("name", id.as_str().into())]);
    let page = Page::new(Section::Jackpots, title).under([(id.to_string(), links::jackpot(&id))]);
    let content = html! {
        section.panel { div id="held" data-live="2000" {
            @if rows.is_empty() { div.empty { p { (desk.words.t("held-none")) } } }
            @else { (table(&desk, &id, &rows, &shown)) }
        } }
    };
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk, id: &str, rows: &[Held], shown: &impl Fn(u64) -> String) -> Markup {
    let words = desk.words;
    let table = html! { table {
        thead { tr {
            (heads(words, &["held-id", "held-what"]))
            th.number scope="col" { (words.t("amount")) }
            (heads(words, &["held-owner", "action-reason"]))
            @if steps(desk).is_some() { th scope="col" { (words.t("held-step")) } }
        } }
        tbody { @for row in rows { tr {
            th.id scope="row" { (row.id()) }
            td.id { (row.what(desk)) }
            td.number { (shown(row.amount())) }
            td.id { (row.owner()) }
            td { (row.reason()) }
            @if let Some(step) = steps(desk) {
                td { a.button href=(links::held_step(id, row.kind(), row.id(), step)) { (words.t(&format!("held-{step}"))) } }
            }
        } } }
    } };
    wide(&words.t("held"), &table)
}

type Named = Path<(String, String, String, String)>;

async fn named(desk: &Desk, path: &Named) -> Result<Held, Failure> {
    let (id, kind, move_id, step) = &**path;
    let rows = held(desk, id).await?;
    let found = rows.into_iter().find(|row| row.kind() == kind && row.id() == move_id);
    let found = found.filter(|_| steps(desk) == Some(step.as_str()));
    found.ok_or_else(|| Failure::new(desk.words, StatusCode::NOT_FOUND, "failure-no-page"))
}

async fn get(desk: Desk, path: Named) -> Result<HttpResponse, Failure> {
    let row = named(&desk, &path).await?;
    Ok(preview(&desk, &path, &row, &Form::default()).await)
}

async fn post(Posted { desk, mut form }: Posted, path: Named) -> Result<HttpResponse, Failure> {
    let (id, kind, move_id, step) = &*path;
    // A repeat of what is done is one for the API too, and nothing waits any more.
    if action::is_confirmed(&form) && steps(&desk) == Some(step.as_str()) {
        let body = json!({ "reason": form.get(REASON) });
        let call = format!("{}/{kind}/{}/{step}", links::jackpot_api(id), links::part(move_id));
        match desk.call::<Value>(Method::POST, &call, Some(&body)).await {
            Ok(_) => return Ok(action::done(&desk, &links::held(id), &format!("done-held-{step}"))),
            Err(problem) => form.refused_by(&problem, str::to_owned),
        }
    }
    let row = named(&desk, &path).await?;
    Ok(preview(&desk, &path, &row, &form).await)
}

/// The step that shows what will change.
async fn preview(desk: &Desk, path: &Named, row: &Held, form: &Form) -> HttpResponse {
    let words = desk.words;
    let (id, _, move_id, step) = &**path;
    let amount = shown(desk, id).await(row.amount());
    let state = |name: &str| words.t(&format!("held-state-{name}"));
    let after = if step == "approve" { "done" } else { "withdrawn" };
    let about = [("amount", amount.into()), ("owner", row.owner().into())];
    let action = Action {
        page: Page::new(Section::Jackpots, words.t(&format!("held-{step}")))
            .under([(id.clone(), links::jackpot(id)), (words.t("held"), links::held(id))]),
        effects: &[words.tv(&format!("held-effect-{step}"), about)],
        changes: &[Change {
            what: format!("{move_id} · {}", row.what(desk)),
            before: state("held"),
            after: state(after),
        }],
        button: &words.t(&format!("held-{step}")),
        is_final: true,
        back: &links::held(id),
    };
    action.page(desk, form)
}
