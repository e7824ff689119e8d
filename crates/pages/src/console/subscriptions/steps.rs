//! What an operator does with a subscription as it is: pause, resume, delete; replay and skip with one of its subjects.

use actix_web::HttpResponse;
use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::subscription::{SubscriptionBody, SubscriptionState};
use jackpot_kernel::http::problem::ProblemBody;
use maud::html;
use serde_json::{Value, json};

use super::{LIST, api, page_path, trail};
use crate::console::action::{self, Action, Change, REASON};
use crate::console::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes};

/// Fields of the forms.
const SUBJECT: &str = "subject";
const FROM_N: &str = "from_n";
const EVENT: &str = "id";

jackpot_core::names! {
    /// What can be asked for.
    enum Step {
        Pause = "pause",
        Resume = "resume",
        Delete = "delete",
        Replay = "replay",
        Skip = "skip",
    }
}

impl Step {
    /// The field that is filled in before what changes is shown.
    fn asks(self) -> Option<&'static str> {
        match self {
            Self::Replay => Some(FROM_N),
            Self::Skip => Some(EVENT),
            Self::Pause | Self::Resume | Self::Delete => None,
        }
    }
}

pub fn routes(config: &mut ServiceConfig) {
    let path = "/console/subscriptions/{id}/{step:pause|resume|delete|replay|skip}";
    config.configure(form_routes(path, get, post));
}

async fn named(desk: &Desk, path: &(String, String)) -> Result<(Step, SubscriptionBody), Failure> {
    let step =
        Step::parse(&path.1).ok_or_else(|| Failure::new(desk.words, StatusCode::NOT_FOUND, "failure-no-page"))?;
    Ok((step, desk.get(&api(&path.0)).await?))
}

async fn get(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (step, subscription) = named(&desk, &path).await?;
    let mut form = Form::default();
    let Some(field) = step.asks() else {
        return Ok(preview(&desk, step, &subscription, &form));
    };
    form.set(SUBJECT, desk.query(SUBJECT));
    form.set(field, "");
    Ok(ask(&desk, step, &subscription, &form))
}

async fn post(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (step, subscription) = named(&desk, &path).await?;
    if let Some(field) = step.asks()
        && form.get(field).is_empty()
    {
        form.refuse(field, desk.words.t("subscription-step-missing"));
        return Ok(ask(&desk, step, &subscription, &form));
    }
    // The reason of a skip is in its own row of the audit trail.
    let is_kept = action::is_confirmed(&form) && (step == Step::Skip || action::keep_reason(&desk, &mut form).await);
    if !is_kept {
        return Ok(preview(&desk, step, &subscription, &form));
    }
    match call(&desk, step, &path.0, &form).await {
        Ok(()) => {
            let to = if step == Step::Delete {
                LIST.to_owned()
            } else {
                page_path(&path.0)
            };
            Ok(action::done(
                &desk,
                &to,
                &format!("done-subscription-{}", step.as_str()),
            ))
        }
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            Ok(match step.asks() {
                Some(field) if [SUBJECT, field].iter().any(|name| form.error(name).is_some()) => {
                    ask(&desk, step, &subscription, &form)
                }
                _ => preview(&desk, step, &subscription, &form),
            })
        }
    }
}

async fn call(desk: &Desk, step: Step, id: &str, form: &Form) -> Result<(), ProblemBody> {
    if step == Step::Delete {
        let answer = desk.answer(Method::DELETE, &api(id), Payload::None, Vec::new()).await?;
        // Deleted meanwhile is deleted.
        let is_gone = matches!(answer.status(), StatusCode::NO_CONTENT | StatusCode::NOT_FOUND);
        return if is_gone {
            Ok(())
        } else {
            Err(desk.problem(answer).await)
        };
    }
    let number = |text: &str| {
        text.replace([',', ' '], "")
            .parse::<u64>()
            .map_or_else(|_| text.into(), Value::from)
    };
    let body = match step {
        Step::Replay => Some(json!({ SUBJECT: form.get(SUBJECT), FROM_N: number(form.get(FROM_N)) })),
        Step::Skip => Some(json!({ SUBJECT: form.get(SUBJECT), EVENT: form.get(EVENT), REASON: form.get(REASON) })),
        Step::Pause | Step::Resume | Step::Delete => None,
    };
    let path = format!("{}/{}", api(id), step.as_str());
    desk.call::<Value>(Method::POST, &path, body.as_ref()).await.map(drop)
}

/// The form of a step that needs more than a reason.
fn ask(desk: &Desk, step: Step, subscription: &SubscriptionBody, form: &Form) -> HttpResponse {
    let words = desk.words;
    let page = page(desk, step, subscription);
    let (label, hint) = (
        words.t(&format!("subscription-{}-field", step.as_str())),
        words.t(&format!("subscription-{}-hint", step.as_str())),
    );
    let fields = html! {
        div.fields {
            (Field::new(SUBJECT, &words.t("subscription-subject"), Kind::Text).of(form))
            @if let Some(field) = step.asks() {
                @let kind = if step == Step::Replay { Kind::Number } else { Kind::Text };
                (Field::new(field, &label, kind).hint(&hint).of(form))
            }
        }
    };
    action::ask(desk, page, form, &page_path(&subscription.id), &fields)
}

fn page(desk: &Desk, step: Step, subscription: &SubscriptionBody) -> Page {
    let name = format!("subscription-{}-title", step.as_str());
    let title = desk.words.tv(&name, [("name", (&subscription.id).into())]);
    Page::new(Section::Subscriptions, title)
        .under([trail(desk), (subscription.id.to_string(), page_path(&subscription.id))])
}

/// The step that shows what will change.
fn preview(desk: &Desk, step: Step, subscription: &SubscriptionBody, form: &Form) -> HttpResponse {
    let words = desk.words;
    let state = |state: SubscriptionState| words.t(&format!("subscription-state-{}", state.as_str()));
    let stream = subscription
        .streams
        .iter()
        .find(|stream| stream.subject == form.get(SUBJECT));
    let changes = match step {
        Step::Pause | Step::Resume => vec![Change {
            what: words.t("subscription-state"),
            before: state(subscription.state),
            after: state(if step == Step::Pause {
                SubscriptionState::Paused
            } else {
                SubscriptionState::Running
            }),
        }],
        Step::Replay => vec![Change {
            what: format!("{} · {}", form.get(SUBJECT), words.t("subscription-next-n")),
            before: stream.map_or_else(String::new, |stream| (stream.delivered_n + 1).to_string()),
            after: form.get(FROM_N).to_owned(),
        }],
        Step::Delete | Step::Skip => Vec::new(),
    };
    let action = Action {
        page: page(desk, step, subscription),
        effects: &[words.tv(
            &format!("subscription-{}-effect", step.as_str()),
            [("event", form.get(EVENT).into())],
        )],
        changes: &changes,
        button: &words.t(&format!("subscription-{}", step.as_str())),
        is_final: matches!(step, Step::Delete | Step::Skip),
        back: &page_path(&subscription.id),
    };
    action.page(desk, form)
}
