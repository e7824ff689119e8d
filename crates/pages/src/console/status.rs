//! What an operator does with a jackpot as it is: pause, resume, close, rotate its epoch.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_ui::Words;
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::{Desk, Failure, Field, Form, Kind, Posted, form_routes, jackpots, links};
use jackpot_api::jackpot::Jackpot;

/// The field that leaves a waiting definition waiting.
const KEEP_WAITING: &str = "keep_waiting";

pub fn routes(config: &mut ServiceConfig) {
    config.configure(form_routes(
        "/console/jackpots/{id}/{verb:pause|resume|close|rotate}",
        get,
        post,
    ));
}

async fn get(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    page(&desk, &path, &Form::default()).await
}

async fn post(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (id, verb) = (&path.0, &path.1);
    let mut body = json!({ "reason": form.get(REASON) });
    if verb == "pause" {
        body[KEEP_WAITING] = json!(form.get(KEEP_WAITING) == "true");
    }
    let call = match verb.as_str() {
        "rotate" => format!("{}/fairness/rotate", links::jackpot_api(id)),
        verb => format!("{}/{verb}", links::jackpot_api(id)),
    };
    match desk.call::<Value>(Method::POST, &call, Some(&body)).await {
        Ok(_) => Ok(action::done(&desk, &links::jackpot(id), &format!("done-{verb}"))),
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            page(&desk, &path, &form).await
        }
    }
}

async fn page(desk: &Desk, path: &(String, String), form: &Form) -> Result<HttpResponse, Failure> {
    let (id, verb) = (path.0.as_str(), path.1.as_str());
    let jackpot: Jackpot = desk.get(&links::jackpot_api(id)).await?;
    let words = desk.words;
    let after = match verb {
        "pause" => Some("paused"),
        "resume" => Some("open"),
        "close" => Some("closed"),
        _ => None,
    };
    let change = after.map(|after| Change {
        what: words.t("status"),
        before: word(words, jackpot.status.as_str()),
        after: word(words, after),
    });
    let mut changes: Vec<_> = change.into_iter().collect();
    let mut effects = vec![words.t(&format!("{verb}-effect"))];
    let waiting = jackpot.pending.as_ref().map(|pending| pending.version);
    let asked = waiting.filter(|_| verb == "pause").map(|waiting| {
        effects.push(words.tv("pause-waiting", [("version", waiting.into())]));
        changes.push(Change {
            what: words.t("version"),
            before: jackpot.version.to_string(),
            after: waiting.to_string(),
        });
        let label = words.t("pause-keep-waiting");
        (KEEP_WAITING, Field::new(KEEP_WAITING, &label, Kind::Check).of(form))
    });
    let action = Action {
        page: jackpots::page(desk, &jackpot, &format!("{verb}-title")),
        effects: &effects,
        changes: &changes,
        button: &words.t(verb),
        is_final: verb == "close",
        back: &links::jackpot(id),
    };
    Ok(action.page_asking(desk, form, asked))
}

fn word(words: Words, status: &str) -> String {
    words.t(&format!("status-{status}"))
}
