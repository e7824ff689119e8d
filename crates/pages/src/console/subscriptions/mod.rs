//! Subscriptions: the list, one of them with how far it is with each subject, a test event. `define` has the form, `steps`
//! what an operator does with one as it is.

mod define;
mod steps;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{self, Path, ServiceConfig};
use jackpot_api::subscription::{ProbeAnswer, SubscriptionBody, SubscriptionList, SubscriptionState, Target};
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use maud::{Markup, html};

use super::list::{heads, number_heads, wide};
use super::{Desk, Failure, Page, Posted, Section, links};

const LIST: &str = "/console/subscriptions";

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/subscriptions", jackpot_kernel::http::get().to(list))
        .route("/console/subscriptions/{id}", jackpot_kernel::http::get().to(show))
        .route("/console/subscriptions/{id}/test", web::post().to(test))
        .configure(define::routes)
        .configure(steps::routes);
}

fn lag(subscription: &SubscriptionBody) -> u64 {
    subscription.streams.iter().map(|stream| stream.lag).sum()
}

/// The target, as people say it: `https://…`, or `Kafka main: topic`.
fn line(target: &Target) -> String {
    match target {
        Target::Webhook(webhook) => webhook.url.clone(),
        Target::Kafka(kafka) => format!("Kafka {}: {}", kafka.connection, kafka.topic),
        Target::Nats(nats) => format!("NATS {}: {}", nats.connection, nats.subject),
    }
}

/// The subscription in the API.
fn api(id: &str) -> String {
    format!("/v1/subscriptions/{}", links::part(id))
}

fn page_path(id: &str) -> String {
    links::subscription(id)
}

/// The list, above a subscription.
fn trail(desk: &Desk) -> (String, String) {
    (desk.words.t("subscriptions"), LIST.to_owned())
}

fn badge(words: Words, state: SubscriptionState) -> Markup {
    let class = match state {
        SubscriptionState::Running => "badge good",
        SubscriptionState::Disabled => "badge bad",
        SubscriptionState::Retrying | SubscriptionState::Paused => "badge warn",
    };
    html! { span class=(class) { (words.t(&format!("subscription-state-{}", state.as_str()))) } }
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let list: SubscriptionList = desk.get("/v1/subscriptions").await?;
    let new = || html! { a.button.primary href="/console/new-subscription" { (words.t("subscription-new")) } };
    let page = Page::new(Section::Subscriptions, words.t("subscriptions")).beside(desk.may_operate().then(new));
    let content = html! {
        p.muted { (words.t("subscriptions-about")) }
        section.panel { div id="subscriptions" data-live="2000" { (table(words, &list.items)) } }
    };
    Ok(desk.page(&page, &content))
}

fn table(words: Words, subscriptions: &[SubscriptionBody]) -> Markup {
    if subscriptions.is_empty() {
        return html! { div.empty { p { (words.t("subscriptions-none")) } } };
    }
    wide(
        &words.t("subscriptions"),
        &html! { table {
            thead { tr {
                (heads(words, &["subscription", "subscription-state", "subscription-target", "subscription-types", "subscription-subjects"]))
                (number_heads(words, &["subscription-lag"]))
                (heads(words, &["subscription-last-error"]))
            } }
            tbody { @for one in subscriptions { tr {
                th scope="row" { a.id href=(page_path(&one.id)) { (one.id) } }
                td { (badge(words, one.state)) @if one.alarm { " " span.badge.bad { (words.t("subscription-alarm")) } } }
                td { span.id { (line(&one.target)) } }
                td { span.id { (one.types.join(", ")) } }
                td { span.id { (one.subjects.join(", ")) } }
                td.number { strong { (grouped(lag(one).into())) } }
                td.text { (one.streams.iter().find_map(|stream| stream.last_error.as_deref()).unwrap_or("—")) }
            } } }
        } },
    )
}

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let subscription: SubscriptionBody = desk.get(&api(&id)).await?;
    Ok(page(&desk, &subscription, None))
}

/// It changes nothing, so it asks for no reason.
async fn test(posted: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let desk = posted.desk;
    let path = format!("{}/test", api(&id));
    let probe: Result<ProbeAnswer, _> = desk.call(Method::POST, &path, None).await;
    let probe = probe.map_err(|problem| Failure::of_api(desk.words, problem))?;
    let subscription: SubscriptionBody = desk.get(&api(&id)).await?;
    Ok(page(&desk, &subscription, Some(&probe)))
}

fn page(desk: &Desk, subscription: &SubscriptionBody, probe: Option<&ProbeAnswer>) -> HttpResponse {
    let words = desk.words;
    let page = Page::new(Section::Subscriptions, subscription.id.to_string())
        .under([trail(desk)])
        .beside(actions(desk, subscription));
    let content = html! {
        @if let Some(probe) = probe { (outcome(words, probe)) }
        div.stack id="state" data-live="2000" {
            p.row { (badge(words, subscription.state)) }
            @if subscription.alarm { p.note.bad { (words.t("subscription-alarm-about")) } }
            @if subscription.state == SubscriptionState::Disabled { p.note.warn { (words.t("subscription-disabled-about")) } }
            section.panel { h2 { (words.t("subscription-streams")) } (streams(desk, subscription)) }
        }
        section.panel { h2 { (words.t("definition")) } (facts(words, subscription)) }
    };
    desk.page(&page, &content)
}

fn outcome(words: Words, probe: &ProbeAnswer) -> Markup {
    let status = probe.status.map_or_else(String::new, |status| status.to_string());
    let text = match (&probe.error, probe.status) {
        (Some(error), _) => words.tv("subscription-test-failed", [("error", error.into())]),
        (None, Some(_)) => words.tv("subscription-test-answered", [("status", status.into())]),
        (None, None) => words.t("subscription-test-taken"),
    };
    let class = if probe.delivered { "note good" } else { "note bad" };
    html! { p class=(class) role="status" { (text) } }
}

fn actions(desk: &Desk, subscription: &SubscriptionBody) -> Option<Markup> {
    let words = desk.words;
    let here = page_path(&subscription.id);
    let turn = match subscription.state {
        SubscriptionState::Paused | SubscriptionState::Disabled => "resume",
        SubscriptionState::Running | SubscriptionState::Retrying => "pause",
    };
    desk.may_operate().then(|| {
        html! { div.row {
            form method="post" action=(format!("{here}/test")) { (desk.form_token()) button { (words.t("subscription-test")) } }
            a.button href=(format!("{here}/{turn}")) { (words.t(&format!("subscription-{turn}"))) }
            @if subscription.state == SubscriptionState::Retrying { a.button href=(format!("{here}/resume")) { (words.t("subscription-try-now")) } }
            a.button href=(format!("{here}/change")) { (words.t("change")) }
            a.button.danger href=(format!("{here}/delete")) { (words.t("subscription-delete")) }
        } }
    })
}

/// The page of a subject in the console.
fn subject_page(subject: &str) -> String {
    let (kind, id) = subject.split_once(':').unwrap_or((subject, ""));
    format!("/console/{}s/{}", links::part(kind), links::part(id))
}

fn streams(desk: &Desk, subscription: &SubscriptionBody) -> Markup {
    let words = desk.words;
    if subscription.streams.is_empty() {
        return html! { div.empty { p { (words.t("subscription-streams-none")) } } };
    }
    let step = |step: &str, subject: &str| {
        let path = format!("{}/{step}", page_path(&subscription.id));
        links::with_query(&path, &[("subject", subject)])
    };
    wide(
        &words.t("subscription-streams"),
        &html! { table {
            thead { tr {
                (heads(words, &["subscription-subject"]))
                (number_heads(words, &["subscription-delivered-n", "subscription-lag"]))
                (heads(words, &["subscription-last-error", "subscription-next-try-at"]))
                @if desk.may_operate() { th scope="col" { span.hidden { (words.t("action")) } } }
            } }
            tbody { @for stream in &subscription.streams { tr {
                th scope="row" { a.id href=(subject_page(&stream.subject)) { (stream.subject) } }
                td.number { (grouped(stream.delivered_n.into())) }
                td.number { strong { (grouped(stream.lag.into())) } }
                td.text { (stream.last_error.as_deref().unwrap_or("—")) }
                td { @if let Some(at) = &stream.next_try_at { (time(at)) } @else { "—" } }
                @if desk.may_operate() { td.nowrap {
                    a href=(step("replay", &stream.subject)) { (words.t("subscription-replay")) span.hidden { " " (stream.subject) } }
                    @if stream.last_error.is_some() { " · "
                        a href=(step("skip", &stream.subject)) { (words.t("subscription-skip")) span.hidden { " " (stream.subject) } }
                    }
                } }
            } } }
        } },
    )
}

fn facts(words: Words, subscription: &SubscriptionBody) -> Markup {
    html! {
        dl.facts {
            dt { (words.t("subscription-target")) } dd { span.id { (line(&subscription.target)) } }
            dt { (words.t("subscription-types")) } dd { span.id { (subscription.types.join(", ")) } }
            dt { (words.t("subscription-subjects")) } dd { span.id { (subscription.subjects.join(", ")) } }
            dt { (words.t("subscription-from")) } dd { (words.t(&format!("subscription-from-{}", subscription.from.as_str()))) }
            dt { (words.t("subscription-verification-key")) } dd {
                @match &subscription.verification_key {
                    Some(key) => span.id { (key) },
                    None => (words.t("subscription-no-key")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_target_is_one_line() {
        for (target, text) in [
            (
                json!({"webhook": {"url": "https://hooks.example/j"}}),
                "https://hooks.example/j",
            ),
            (
                json!({"kafka": {"connection": "main", "topic": "events"}}),
                "Kafka main: events",
            ),
            (
                json!({"nats": {"connection": "main", "subject": "j.events"}}),
                "NATS main: j.events",
            ),
        ] {
            assert_eq!(line(&serde_json::from_value(target).expect("a target")), text);
        }
    }

    #[test]
    fn a_subject_has_its_page() {
        assert_eq!(subject_page("jackpot:spring"), "/console/jackpots/spring");
        assert_eq!(subject_page("coupon:a b"), "/console/coupons/a%20b");
    }
}
