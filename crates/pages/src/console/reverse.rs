//! The reversal of an entry whose round was cancelled: what it gives back, then the reversal.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_ui::money::money;
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::{Desk, Failure, Form, Page, Posted, Section, form_routes, links};
use jackpot_api::entry::Entry;
use jackpot_api::jackpot::{Jackpot, MeterBody};

/// The field of the id that makes a repeat harmless.
const ID: &str = "reversal_id";

pub fn routes(config: &mut ServiceConfig) {
    let path = "/console/jackpots/{id}/entries/{entry_id}/reverse";
    config.configure(form_routes(path, get, post));
}

async fn get(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let mut form = Form::default();
    form.set(ID, desk.new_id()?);
    preview(&desk, &path, &form).await
}

async fn post(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let body = json!({ "reversal_id": form.get(ID), "reason": form.get(REASON) });
    let call = format!("{}/reverse", api(&path.0, &path.1));
    match desk.call::<Value>(Method::POST, &call, Some(&body)).await {
        Ok(_) => Ok(action::done(&desk, &links::entry(&path.0, &path.1), "done-reverse")),
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            preview(&desk, &path, &form).await
        }
    }
}

/// Where the API has the entry.
fn api(id: &str, entry_id: &str) -> String {
    format!("{}/entries/{}", links::jackpot_api(id), links::part(entry_id))
}

async fn preview(desk: &Desk, path: &(String, String), form: &Form) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&path.0)).await?;
    let entry: Entry = desk.get(&api(&path.0, &path.1)).await?;
    let shown = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    let change = |meter: &MeterBody| {
        let added = entry.contributions.iter().find(|one| one.tier == meter.tier);
        added.map(|added| Change {
            what: format!("{} · {}", meter.tier, words.t("reversed")),
            before: shown(meter.reversed),
            after: shown(meter.reversed + added.amount),
        })
    };
    let changes: Vec<_> = jackpot.meters.iter().filter_map(change).collect();
    let back = links::entry(&path.0, &path.1);
    let action = Action {
        page: Page::new(
            Section::Entries,
            words.tv("reverse-title", [("id", (&entry.entry_id).into())]),
        )
        .under([
            (words.t("entries"), "/console/entries".to_owned()),
            (entry.entry_id.clone(), back.clone()),
        ]),
        effects: &[words.t("reverse-effect"), words.t("reverse-uncovered")],
        changes: &changes,
        button: &words.t("reverse-do"),
        is_final: true,
        back: &back,
    };
    Ok(action.page(desk, form))
}
