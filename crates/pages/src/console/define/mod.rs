//! The definition of a jackpot as a form: a new one, from a template, or a change. The form, what it changes and when that
//! comes into force, the PUT.

mod fields;
pub mod parts;
pub mod read;
pub mod templates;

use actix_web::HttpResponse;
use actix_web::http::header::{IF_MATCH, IF_NONE_MATCH};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Path, ServiceConfig};
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::jackpot::document::Document;
use jackpot_kernel::http::code::Code;
use maud::html;
use serde_json::Value;

use super::action::{self, Action, Change};
use super::{Desk, Failure, Form, Page, Posted, Section, form_routes, jackpots, links};
use jackpot_api::jackpot::{Jackpot, MeterBody, Status};

/// The field with the tag of the definition that the operator saw.
const TAG: &str = "tag";
/// The field of the buttons that add and remove rows.
const ROW: &str = "row";

pub fn routes(config: &mut ServiceConfig) {
    config
        .configure(form_routes("/console/new-jackpot", get_new, post_new))
        .configure(form_routes("/console/jackpots/{id}/define", get, post));
}

/// What the form is for.
enum Target {
    New,
    /// The jackpot as it is, and its definition: the waiting one, if there is one.
    Change(Box<(Jackpot, Definition)>),
}

async fn get_new(desk: Desk) -> HttpResponse {
    let mut form = Form::default();
    fields::fill(&mut form, &templates::document(desk.query("template")));
    ask(&desk, &Target::New, &form)
}

async fn post_new(Posted { desk, form }: Posted) -> Result<HttpResponse, Failure> {
    step(desk, Target::New, form).await
}

async fn get(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let (target, tag) = target(&desk, &id).await?;
    let mut form = Form::default();
    if let Target::Change(of) = &target {
        fields::fill(&mut form, of.1.document());
    }
    form.set(TAG, tag);
    Ok(ask(&desk, &target, &form))
}

async fn post(Posted { desk, form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let (target, _) = target(&desk, &id).await?;
    step(desk, target, form).await
}

async fn target(desk: &Desk, id: &str) -> Result<(Target, String), Failure> {
    let (answer, tag): (Value, String) = desk.get_tagged(&links::jackpot_api(id)).await?;
    let unreadable = || Failure::new(desk.words, StatusCode::INTERNAL_SERVER_ERROR, "failure-request");
    let jackpot: Jackpot = desk.parsed(&answer)?;
    let definition = read::of_answer(&answer).ok_or_else(unreadable)?;
    Ok((Target::Change(Box::new((jackpot, definition))), tag))
}

/// The next step of a form that was sent.
async fn step(desk: Desk, target: Target, mut form: Form) -> Result<HttpResponse, Failure> {
    if form.has(ROW) {
        let row = form.get(ROW).to_owned();
        fields::change_rows(&mut form, &row);
        form.remove_all(ROW);
        return Ok(ask(&desk, &target, &form));
    }
    if let Target::Change(of) = &target {
        form.set("id", of.0.id.as_str());
    }
    let definition = match read::of_form(desk.words, &form) {
        Ok(definition) => definition,
        Err(wrong) => {
            for Violation { field, rule } in wrong {
                form.refuse(&fields::name_of(&form, &field), rule);
            }
            return Ok(ask(&desk, &target, &form));
        }
    };
    if action::is_confirmed(&form) {
        match put(&desk, &target, &mut form, definition.document()).await {
            Ok(answer) => return Ok(answer),
            // The reason, or something that only the service knows: the form may have to change.
            Err(Refused::Reason) => {}
            Err(Refused::Definition) => return Ok(ask(&desk, &target, &form)),
        }
    }
    Ok(preview(&desk, &target, &definition, &form))
}

/// Why a PUT did not change anything. The form says it.
enum Refused {
    Reason,
    Definition,
}

/// The PUT, on what the operator saw.
async fn put(desk: &Desk, target: &Target, form: &mut Form, document: &Document) -> Result<HttpResponse, Refused> {
    if let Err(problem) = desk.keep_reason(form.get(action::REASON)).await {
        form.refused_by(&problem, str::to_owned);
        return Err(Refused::Reason);
    }
    let (condition, tag) = match target {
        Target::New => (IF_NONE_MATCH, "*"),
        Target::Change(_) => (IF_MATCH, form.get(TAG)),
    };
    let id = document.id.as_str();
    let body = serde_json::to_value(document).unwrap_or_default();
    let put = desk
        .call_if::<Value>(Method::PUT, &links::jackpot_api(id), Some(&body), condition, tag)
        .await;
    match put {
        Ok(_) => Ok(action::done(desk, &links::jackpot(id), "done-define")),
        Err(problem) if problem.code == Code::PreconditionFailed => {
            let name = match target {
                Target::New => "define-exists",
                Target::Change(_) => "define-changed",
            };
            form.refuse("id", desk.words.t(name));
            Err(Refused::Definition)
        }
        Err(problem) => {
            let names = form.clone();
            form.refused_by(&problem, |field| fields::name_of(&names, field));
            Err(Refused::Definition)
        }
    }
}

fn ask(desk: &Desk, target: &Target, form: &Form) -> HttpResponse {
    let words = desk.words;
    let (page, back) = page(desk, target);
    let tiers = match target {
        Target::New => 0,
        Target::Change(of) => of.1.tiers().len(),
    };
    let content = html! {
        (form.summary(words))
        @if !matches!(target, Target::New) && form.error("id").is_some() {
            p.note.warn { a href=(format!("{back}/define")) { (words.t("define-load-again")) } }
        }
        form.stack method="post" {
            (desk.form_token())
            input type="hidden" name=(TAG) value=(form.get(TAG));
            // The first button is the one that Enter presses.
            button.hidden tabindex="-1" aria-hidden="true" { (words.t("action-preview")) }
            (fields::form(words, form, matches!(target, Target::New), tiers))
            div.row { button.primary { (words.t("action-preview")) } a.button href=(back) { (words.t("action-cancel")) } }
        }
    };
    desk.page(&page.of_form(form), &content)
}

/// The page without its content, and where "cancel" leads.
fn page(desk: &Desk, target: &Target) -> (Page, String) {
    match target {
        Target::New => {
            let above = jackpots::trail(desk);
            let back = above.1.clone();
            (
                Page::new(Section::Jackpots, desk.words.t("define-new-title")).under([above]),
                back,
            )
        }
        Target::Change(of) => (jackpots::page(desk, &of.0, "define-title"), links::jackpot(&of.0.id)),
    }
}

/// What the PUT changes, and when that comes into force.
fn preview(desk: &Desk, target: &Target, definition: &Definition, form: &Form) -> HttpResponse {
    let words = desk.words;
    let (page, back) = page(desk, target);
    let after = parts::of(words, definition.document());
    let (before, effects) = match target {
        Target::New => (Vec::new(), vec![words.t("define-effect-new")]),
        Target::Change(of) => (
            parts::of(words, of.1.document()),
            vec![comes_into_force(desk, &of.0, &of.1, definition)],
        ),
    };
    let action = Action {
        page,
        effects: &effects,
        changes: &changes(words, &before, &after),
        button: &words.t("define-do"),
        is_final: false,
        back: &back,
    };
    action.page(desk, form)
}

/// The parts that differ.
pub fn changes(words: jackpot_ui::Words, before: &[parts::Part], after: &[parts::Part]) -> Vec<Change> {
    let of = |all: &[parts::Part], what: &str| all.iter().find(|(name, _)| name == what).map(|(_, text)| text.clone());
    let nothing = || words.t("nothing");
    let changed = after.iter().filter_map(|(what, text)| {
        let before = of(before, what);
        (before.as_deref() != Some(text)).then(|| Change {
            what: what.clone(),
            before: before.unwrap_or_else(nothing),
            after: text.clone(),
        })
    });
    let gone = before.iter().filter(|(what, _)| of(after, what).is_none());
    let gone = gone.map(|(what, text)| Change {
        what: what.clone(),
        before: text.clone(),
        after: nothing(),
    });
    changed.chain(gone).collect()
}

/// The service decides at the PUT; this says what it will decide if nothing else changes meanwhile.
fn comes_into_force(desk: &Desk, jackpot: &Jackpot, now: &Definition, then: &Definition) -> String {
    let held = |meter: &MeterBody| meter.pool + meter.reserve + meter.overflow > 0;
    let is_live = jackpot.status != Status::Paused && jackpot.meters.iter().any(held);
    let touches_money = now.money_digest() != then.money_digest();
    desk.words.t(match (touches_money, is_live) {
        (true, true) => "define-effect-waits",
        (true, false) => "define-effect-empty",
        (false, _) if jackpot.pending.is_some() => "define-effect-pending",
        (false, _) => "define-effect-now",
    })
}
