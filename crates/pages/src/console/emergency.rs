//! The emergency stop: what holds, and the way to the other state, with its effect and its reason.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::ServiceConfig;
use jackpot_kernel::ledger::api::emergency::EmergencyState;
use jackpot_ui::Words;
use serde_json::json;

use super::action::{self, Action, Change, REASON};
use super::{Desk, Failure, Form, Page, Posted, Section, form_routes, links};

/// Subjects that the page names; the answer of the API has more.
const MAX_NAMED: usize = 20;

pub fn routes(config: &mut ServiceConfig) {
    config.configure(form_routes(links::EMERGENCY, get, post));
}

async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    page(&desk, &Form::default()).await
}

async fn post(Posted { desk, mut form }: Posted) -> Result<HttpResponse, Failure> {
    // What the operator has seen decides, not what holds by now: a second press of a button must not undo the first.
    let verb = if form.get(VERB) == "start" { "start" } else { "stop" };
    let body = json!({ "reason": form.get(REASON) });
    let called = desk
        .call::<EmergencyState>(Method::POST, &format!("/v1/emergency-{verb}"), Some(&body))
        .await;
    match called {
        Ok(EmergencyState { unreached: Some(_), .. }) => {
            Ok(action::done(&desk, links::EMERGENCY, "done-emergency-unreached"))
        }
        Ok(_) => Ok(action::done(&desk, "/console/", &format!("done-emergency-{verb}"))),
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            page(&desk, &form).await
        }
    }
}

/// The field that says what the page offered.
const VERB: &str = "verb";

async fn page(desk: &Desk, form: &Form) -> Result<HttpResponse, Failure> {
    let state: EmergencyState = desk.get("/v1/emergency-stop").await?;
    let words = desk.words;
    let verb = if state.stopped { "start" } else { "stop" };
    let mut effects = holds(words, &state);
    effects.push(words.t(&format!("emergency-{verb}-effect")));
    let status = |stopped: bool| {
        words.t(if stopped {
            "emergency-stopped"
        } else {
            "emergency-taking"
        })
    };
    let changes = ["jackpots", "nav-coupons", "nav-rooms"].map(|kind| Change {
        what: words.t(kind),
        before: status(state.stopped),
        after: status(!state.stopped),
    });
    let mut form = form.clone();
    form.set(VERB, verb);
    let action = Action {
        page: Page::new(Section::Emergency, words.t("emergency")),
        effects: &effects,
        changes: &changes,
        button: &words.t(&format!("emergency-{verb}")),
        is_final: false,
        back: "/console/",
    };
    Ok(action.page(desk, &form))
}

/// What holds now, in sentences.
fn holds(words: Words, state: &EmergencyState) -> Vec<String> {
    let mut all = Vec::new();
    if let (Some(since), Some(reason)) = (&state.since, &state.reason) {
        let name = if state.stopped {
            "emergency-since"
        } else {
            "emergency-ended"
        };
        all.push(words.tv(
            name,
            [("since", since.as_str().into()), ("reason", reason.as_str().into())],
        ));
    }
    if let Some(unreached) = &state.unreached {
        let named = unreached
            .iter()
            .take(MAX_NAMED)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let values = [("count", unreached.len().into()), ("names", named.as_str().into())];
        all.push(words.tv("emergency-unreached", values));
    }
    all
}
