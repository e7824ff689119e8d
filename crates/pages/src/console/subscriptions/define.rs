//! The definition of a subscription as a form: its fields, what a PUT would change, the PUT.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::subscription::{SubscriptionBody, Target};
use jackpot_ui::Words;
use maud::html;
use serde_json::{Value, json};

use super::{LIST, api, page_path, trail};
use crate::console::action::{self, Action, Change};
use crate::console::document::{ID, is_free};
use crate::console::form::choices;
use crate::console::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes};

/// Fields of the form.
const TARGET: &str = "target";
const URL: &str = "url";
const CONNECTION: &str = "connection";
const TOPIC: &str = "topic";
const TYPES: &str = "types";
const SUBJECTS: &str = "subjects";
const FROM: &str = "from";

/// Kinds of targets, as the API names them.
const KINDS: [&str; 3] = ["webhook", "kafka", "nats"];

pub fn routes(config: &mut ServiceConfig) {
    config
        .configure(form_routes("/console/new-subscription", ask_new, put_new))
        .configure(form_routes(
            "/console/subscriptions/{id}/change",
            ask_change,
            put_change,
        ));
}

async fn ask_new(desk: Desk) -> HttpResponse {
    let mut form = Form::default();
    for name in [ID, URL, CONNECTION, TOPIC] {
        form.set(name, "");
    }
    for (name, value) in [(TARGET, "webhook"), (TYPES, "payout.*"), (SUBJECTS, "*"), (FROM, "now")] {
        form.set(name, value);
    }
    ask(&desk, None, &form)
}

async fn ask_change(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let current: SubscriptionBody = desk.get(&api(&id)).await?;
    Ok(ask(&desk, Some(&current), &form_of(&current)))
}

/// The form with a definition.
fn form_of(of: &SubscriptionBody) -> Form {
    let mut form = Form::default();
    let (kind, url, connection, topic) = match &of.target {
        Target::Webhook(webhook) => ("webhook", webhook.url.as_str(), "", ""),
        Target::Kafka(kafka) => ("kafka", "", kafka.connection.as_str(), kafka.topic.as_str()),
        Target::Nats(nats) => ("nats", "", nats.connection.as_str(), nats.subject.as_str()),
    };
    for (name, value) in [(TARGET, kind), (URL, url), (CONNECTION, connection), (TOPIC, topic)] {
        form.set(name, value);
    }
    form.set(TYPES, of.types.join("\n"));
    form.set(SUBJECTS, of.subjects.join("\n"));
    form.set(FROM, of.from.as_str());
    form
}

/// The kind of target that a form asks for; a webhook where it says none.
fn kind(form: &Form) -> &'static str {
    let found = KINDS.into_iter().find(|kind| *kind == form.get(TARGET));
    found.unwrap_or(KINDS[0])
}

/// The definition that a form asks for.
fn document(form: &Form) -> Value {
    let (connection, topic) = (form.get(CONNECTION), form.get(TOPIC));
    let target = match kind(form) {
        "kafka" => json!({"kafka": {"connection": connection, "topic": topic}}),
        "nats" => json!({"nats": {"connection": connection, "subject": topic}}),
        _ => json!({"webhook": {"url": form.get(URL)}}),
    };
    let lines = |name: &str| -> Vec<String> {
        let lines = form.get(name).lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    json!({TARGET: target, TYPES: lines(TYPES), SUBJECTS: lines(SUBJECTS), FROM: form.get(FROM)})
}

/// The field of the form for one of the API.
fn field_of(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let field = match (name.starts_with("target."), last) {
        (true, "subject") => TOPIC,
        (true, last) => last,
        (false, _) => name.split('[').next().unwrap_or(name),
    };
    field.to_owned()
}

async fn put_new(Posted { desk, mut form }: Posted) -> Result<HttpResponse, Failure> {
    let id = form.get(ID).to_owned();
    if !is_free(&desk, &id, &api(&id), &mut form).await? {
        return Ok(ask(&desk, None, &form));
    }
    put(&desk, form, &id, None).await
}

async fn put_change(Posted { desk, form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let current: SubscriptionBody = desk.get(&api(&id)).await?;
    put(&desk, form, &id, Some(&current)).await
}

/// Shows what the form changes, and changes it once the operator has confirmed that.
async fn put(
    desk: &Desk,
    mut form: Form,
    id: &str,
    current: Option<&SubscriptionBody>,
) -> Result<HttpResponse, Failure> {
    let changes = changes(desk.words, current, &form);
    if changes.is_empty() {
        form.refuse_all(desk.words.t("nothing-changes"));
        return Ok(ask(desk, current, &form));
    }
    if action::is_confirmed(&form) && action::keep_reason(desk, &mut form).await {
        match desk.call::<Value>(Method::PUT, &api(id), Some(&document(&form))).await {
            Ok(_) => {
                let done = if current.is_none() {
                    "done-subscription-new"
                } else {
                    "done-subscription-change"
                };
                return Ok(action::done(desk, &page_path(id), done));
            }
            Err(problem) => {
                form.refused_by(&problem, field_of);
                return Ok(ask(desk, current, &form));
            }
        }
    }
    let action = Action {
        page: page(desk, current),
        effects: &effects(desk.words, current, &form),
        changes: &changes,
        button: &desk.words.t("subscription-put"),
        is_final: false,
        back: &back(current),
    };
    Ok(action.page(desk, &form))
}

fn effects(words: Words, current: Option<&SubscriptionBody>, form: &Form) -> Vec<String> {
    let begins = format!("subscription-effect-from-{}", form.get(FROM));
    let mut effects = vec![words.t("subscription-effect-delivers")];
    effects.extend(words.has(&begins).then(|| words.t(&begins)));
    effects.extend(current.map(|_| words.t("subscription-effect-keeps")));
    effects
}

/// The definition in words, a text for each field.
fn shown(words: Words, form: &Form) -> Vec<(&'static str, String)> {
    let target = match kind(form) {
        "webhook" => form.get(URL).to_owned(),
        kind => format!(
            "{} {}: {}",
            words.t(&format!("subscription-{kind}")),
            form.get(CONNECTION),
            form.get(TOPIC)
        ),
    };
    let lines = |name: &str| form.get(name).lines().map(str::trim).collect::<Vec<_>>().join(", ");
    let from = format!("subscription-from-{}", form.get(FROM));
    let from = words.t_or(&from, form.get(FROM));
    vec![
        ("subscription-target", target),
        ("subscription-types", lines(TYPES)),
        ("subscription-subjects", lines(SUBJECTS)),
        ("subscription-from", from),
    ]
}

fn changes(words: Words, current: Option<&SubscriptionBody>, form: &Form) -> Vec<Change> {
    let before = current.map(|current| shown(words, &form_of(current)));
    let before = before
        .into_iter()
        .flatten()
        .map(|(_, text)| text)
        .chain(std::iter::repeat(String::new()));
    let pairs = shown(words, form).into_iter().zip(before);
    pairs
        .filter(|((_, after), before)| after != before)
        .map(|((what, after), before)| Change {
            what: words.t(what),
            before,
            after,
        })
        .collect()
}

fn page(desk: &Desk, current: Option<&SubscriptionBody>) -> Page {
    let title = match current {
        None => desk.words.t("subscription-new"),
        Some(current) => desk
            .words
            .tv("subscription-change-title", [("name", (&current.id).into())]),
    };
    let one = current.map(|current| (current.id.to_string(), page_path(&current.id)));
    let trail: Vec<_> = [trail(desk)].into_iter().chain(one).collect();
    Page::new(Section::Subscriptions, title).under(trail)
}

fn back(current: Option<&SubscriptionBody>) -> String {
    current.map_or_else(|| LIST.to_owned(), |current| page_path(&current.id))
}

fn ask(desk: &Desk, current: Option<&SubscriptionBody>, form: &Form) -> HttpResponse {
    let words = desk.words;
    let page = page(desk, current);
    let targets = choices(words, "subscription", &KINDS);
    let begins = choices(words, "subscription-from", &["now", "beginning"]);
    let hinted = |name: &'static str, kind| {
        let (label, hint) = (
            words.t(&format!("subscription-{name}")),
            words.t(&format!("subscription-{name}-hint")),
        );
        let is_needed = matches!(name, TYPES | SUBJECTS);
        let field = Field::new(name, &label, kind).hint(&hint);
        if is_needed {
            field.of(form)
        } else {
            field.optional().of(form)
        }
    };
    let fields = html! {
        div.fields {
            @if current.is_none() {
                (Field::new(ID, &words.t("field-id"), Kind::Text).hint(&words.t("field-id-hint")).of(form))
            }
            (Field::new(TARGET, &words.t("subscription-target"), Kind::Choice(&targets)).of(form))
            (hinted(URL, Kind::Text))
            (hinted(CONNECTION, Kind::Text))
            (hinted(TOPIC, Kind::Text))
            (hinted(TYPES, Kind::Lines))
            (hinted(SUBJECTS, Kind::Lines))
            (Field::new(FROM, &words.t("subscription-from"), Kind::Choice(&begins)).hint(&words.t("subscription-from-hint")).of(form))
        }
    };
    action::ask(desk, page, form, &back(current), &fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_definition_and_back() {
        for target in [
            json!({"webhook": {"url": "https://hooks.example/j"}}),
            json!({"kafka": {"connection": "main", "topic": "events"}}),
            json!({"nats": {"connection": "main", "subject": "j.events"}}),
        ] {
            let document = json!({"target": target, "types": ["payout.*", "coupon.issued"], "subjects": ["*"], "from": "beginning"});
            let mut whole = document.clone();
            for (name, value) in [
                ("id", json!("s")),
                ("state", json!("running")),
                ("alarm", json!(false)),
                ("verification_key", Value::Null),
                ("streams", json!([])),
            ] {
                whole[name] = value;
            }
            let subscription: SubscriptionBody = serde_json::from_value(whole).expect("a subscription");
            assert_eq!(super::document(&form_of(&subscription)), document);
        }
    }

    #[test]
    fn an_error_of_the_api_is_beside_its_field() {
        for (api, form) in [
            ("target.webhook.url", URL),
            ("target.kafka.connection", CONNECTION),
            ("target.nats.subject", TOPIC),
            ("types[1]", TYPES),
            ("subjects", SUBJECTS),
            ("from", FROM),
        ] {
            assert_eq!(field_of(api), form);
        }
    }
}
