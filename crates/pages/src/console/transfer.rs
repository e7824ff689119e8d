//! The money of a jackpot that goes to another one: the form, what it changes, the transfer, and the list of them.

use jackpot_api::ledger::{TransferRow, TransferState};
use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_ui::money::money;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::list::{Listing, heads, number_heads, wide};
use super::{Desk, Failure, Field, Form, Kind, Posted, form_routes, jackpots, links};
use jackpot_api::jackpot::{Jackpot, MeterBody, Status};
use jackpot_kernel::http::page::PageBody;

/// The field of the id that makes a repeat harmless.
const ID: &str = "transfer_id";
/// The field of the jackpot that receives.
const TO: &str = "to";

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/jackpots/{id}/transfers", jackpot_kernel::http::get().to(list))
        .configure(form_routes("/console/jackpots/{id}/transfer", get, post));
}

/// A transfer as the form has it.
struct Wish<'a> {
    to: &'a Jackpot,
    /// Each tier that gives, and the tier that receives.
    tiers: Vec<(&'a MeterBody, &'a MeterBody)>,
}

/// The field of where a tier's money goes.
fn field_of(tier: &str) -> String {
    format!("tier-{tier}")
}

async fn get(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let mut form = Form::default();
    form.set(ID, desk.new_id()?);
    form.set(TO, "");
    for meter in &jackpot.meters {
        form.set(&field_of(&meter.tier), meter.tier.as_str());
    }
    Ok(ask(&desk, &jackpot, &form))
}

async fn post(Posted { desk, mut form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    if form.get(TO).is_empty() {
        form.refuse(TO, desk.words.t("transfer-same"));
        return Ok(ask(&desk, &jackpot, &form));
    }
    let to = match desk.ask::<Jackpot>(&links::jackpot_api(form.get(TO))).await {
        Ok(to) => to,
        Err(problem) => {
            form.refuse(TO, problem.detail);
            return Ok(ask(&desk, &jackpot, &form));
        }
    };
    let wish = match check(&desk, &jackpot, &to, &form) {
        Ok(wish) => wish,
        Err((name, rule)) => {
            form.refuse(&name, rule);
            return Ok(ask(&desk, &jackpot, &form));
        }
    };
    if action::is_confirmed(&form) {
        let body = wish.body(form.get(ID), form.get(REASON));
        let path = format!("{}/transfers", links::jackpot_api(&id));
        match desk.call::<TransferRow>(Method::POST, &path, Some(&body)).await {
            Ok(made) if made.state == TransferState::Held => {
                return Ok(action::done(&desk, &links::held(&id), "done-held"));
            }
            Ok(_) => return Ok(action::done(&desk, &links::transfers(&id), "done-transfer")),
            Err(problem) => form.refused_by(&problem, str::to_owned),
        }
    }
    Ok(preview(&desk, &jackpot, &wish, &form))
}

/// The step in which the operator says what goes where.
fn ask(desk: &Desk, jackpot: &Jackpot, form: &Form) -> HttpResponse {
    let words = desk.words;
    let here = links::jackpot(&jackpot.id);
    let page = jackpots::page(desk, jackpot, "transfer-title").of_form(form);
    let to_hint = words.tv("transfer-to-hint", [("currency", jackpot.currency.as_str().into())]);
    let tier_hint = words.t("transfer-tier-hint");
    let gives = matches!(jackpot.status, Status::Paused | Status::Closed);
    let content = html! {
        (form.summary(words))
        @if !gives { p.note.warn { (words.t("transfer-open")) } }
        form.panel.stack method="post" {
            (desk.form_token())
            input type="hidden" name=(ID) value=(form.get(ID));
            p { (words.t("transfer-about")) }
            div.fields {
                (Field::new(TO, &words.t("transfer-to"), Kind::Text).hint(&to_hint).of(form))
                @for meter in &jackpot.meters {
                    @let label = words.tv("transfer-tier", [("tier", meter.tier.as_str().into())]);
                    (Field::new(&field_of(&meter.tier), &label, Kind::Text).hint(&tier_hint).optional().of(form))
                }
            }
            div.row { button.primary { (words.t("action-preview")) } a.button href=(here) { (words.t("action-cancel")) } }
        }
    };
    desk.page(&page, &content)
}

fn check<'a>(desk: &Desk, jackpot: &'a Jackpot, to: &'a Jackpot, form: &Form) -> Result<Wish<'a>, (String, String)> {
    let words = desk.words;
    let wrong = |rule: String| Err((TO.to_owned(), rule));
    if to.id == jackpot.id {
        return wrong(words.t("transfer-same"));
    }
    if to.currency != jackpot.currency {
        return wrong(words.tv("transfer-other-currency", [("currency", to.currency.as_str().into())]));
    }
    let mut tiers = Vec::new();
    for meter in &jackpot.meters {
        let name = field_of(&meter.tier);
        let wanted = form.get(&name);
        if wanted.is_empty() {
            continue;
        }
        let Some(found) = to.meters.iter().find(|own| own.tier.as_str() == wanted) else {
            let about = [("to", (&to.name).into()), ("tier", wanted.into())];
            return Err((name, words.tv("transfer-no-tier", about)));
        };
        tiers.push((meter, found));
    }
    if let (true, Some(first)) = (tiers.is_empty(), jackpot.meters.first()) {
        return Err((field_of(&first.tier), words.t("transfer-no-tiers")));
    }
    Ok(Wish { to, tiers })
}

/// All whole units of a tier.
fn total(meter: &MeterBody) -> u64 {
    meter.pool + meter.reserve + meter.overflow
}

impl Wish<'_> {
    /// The body for the API.
    fn body(&self, id: &str, reason: &str) -> Value {
        let tiers: BTreeMap<_, _> = self.tiers.iter().map(|(from, to)| (&from.tier, &to.tier)).collect();
        json!({ "transfer_id": id, "to": self.to.id, "tiers": tiers, "reason": reason })
    }
}

/// The step that shows what will change.
fn preview(desk: &Desk, jackpot: &Jackpot, wish: &Wish<'_>, form: &Form) -> HttpResponse {
    let words = desk.words;
    let here = links::jackpot(&jackpot.id);
    let shown = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    let all = words.t("transfer-all");
    let mut changes = Vec::new();
    let mut received = BTreeMap::<&str, (u64, u64)>::new();
    for (from, to) in &wish.tiers {
        changes.push(Change {
            what: format!("{} · {} · {all}", jackpot.name, from.tier),
            before: shown(total(from)),
            after: shown(0),
        });
        received.entry(&to.tier).or_insert((total(to), 0)).1 += total(from);
    }
    changes.extend(received.into_iter().map(|(tier, (before, more))| Change {
        what: format!("{} · {tier} · {all}", wish.to.name),
        before: shown(before),
        after: shown(before + more),
    }));
    let mut effects = vec![
        words.tv("transfer-effect", [("to", (&wish.to.name).into())]),
        words.t("transfer-limits"),
        words.t("transfer-cycles"),
    ];
    if let Some(limit) = jackpot.approval_above {
        effects.push(words.tv("held-from", [("limit", shown(limit.get()).into())]));
    }
    let action = Action {
        page: jackpots::page(desk, jackpot, "transfer-title"),
        effects: &effects,
        changes: &changes,
        button: &words.t("transfer-do"),
        is_final: true,
        back: &format!("{here}/transfer"),
    };
    action.page(desk, form)
}

async fn list(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let listing = Listing {
        page: &links::transfers(&id),
        api: &format!("jackpots/{}/transfers", links::part(&id)),
        filters: &[],
    };
    let found = listing.read::<TransferRow>(&desk).await?;
    let page = jackpots::page(&desk, &jackpot, "transfers-title")
        .beside(listing.files(&desk))
        .of_form(&found.form);
    let content = html! {
        @if let Some(list) = &found.list {
            section.panel { div id="transfers" data-live=[desk.live()] { (table(&desk, &jackpot, list)) } }
            (listing.pages(&desk, list))
        }
    };
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk, jackpot: &Jackpot, list: &PageBody<TransferRow>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() && list.next_cursor.is_none() {
        return html! { div.empty { p { (words.t("transfers-none")) } } };
    }
    let shown = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    let rows = html! { table {
        thead { tr {
            (heads(words, &["transfer-id", "transfer-to", "transfer-state", "tier"]))
            (number_heads(words, &["pool", "reserve", "overflow"]))
        } }
        @for one in &list.items { tbody { @for (index, part) in one.tiers.iter().enumerate() { tr {
            @if index == 0 {
                @let span = one.tiers.len();
                th.id scope="rowgroup" rowspan=(span) { (one.transfer_id) }
                td.id rowspan=(span) { a href=(links::jackpot(&one.to)) { (one.to) } }
                td rowspan=(span) { (state(desk, one.state)) }
            }
            td.id { (part.tier) " → " (part.to_tier) }
            td.number { (shown(part.pool)) }
            td.number { (shown(part.reserve)) }
            td.number { (shown(part.overflow)) }
        } } } }
    } };
    wide(&words.t("transfers"), &rows)
}

fn state(desk: &Desk, state: TransferState) -> Markup {
    let class = match state {
        TransferState::Done => "badge good",
        TransferState::Withdrawn => "badge",
        TransferState::Held | TransferState::InTransit => "badge warn",
    };
    html! { span class=(class) { (desk.words.t(&format!("transfer-state-{}", state.as_str()))) } }
}
