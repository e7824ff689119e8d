//! The routes of subscriptions.

use std::collections::BTreeSet;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{self, Data, ServiceConfig};
use jackpot_api::subscription::{
    ProbeAnswer, StreamBody, SubscriptionBody, SubscriptionDocument, SubscriptionList, SubscriptionState,
};
use jackpot_core::clock::rfc3339;
use jackpot_core::ids::Id;
use jackpot_core::text::Reason;
use jackpot_core::violation::Violation;
use jiff::Timestamp;
use serde::Deserialize;
use tokio::task::JoinSet;
use utoipa::{OpenApi, ToSchema};

use super::cloudevent::{Message, id_of, position_of};
use super::deliverer::{ALARM_MS, Events};
use super::reached::reached;
use super::reading::{Position, after};
use super::sink::Outcome;
use super::store::{Status, StoreError, StreamRow, Subscription};
use super::subscription::{Definition, known_types, subject_of};
use jackpot_kernel::http::auth;
use jackpot_kernel::http::body::{Body, Described};
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::{FieldError, Problem};
use jackpot_kernel::http::query::{Nothing, PathOf, QueryOf};
use jackpot_kernel::random;
use jackpot_kernel::subject::kinds::KindName;

/// Subjects that an answer shows: those that fail first.
const MAX_STREAMS: i64 = 1_000;
/// The largest number that a JSON number of any client can be.
const MAX_N: u64 = (1 << 53) - 1;
/// Events of the ledger that are read for the figures of one answer.
const LAG_BUDGET: u64 = 5_000;

/// The types that subscriptions may name, of every kind of this program.
fn types(events: &Events) -> BTreeSet<&'static str> {
    known_types(events.0.outbox.kinds.iter().map(|kind| kind.types()))
}

/// Where to deliver again from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayBody {
    /// The subject.
    #[schema(example = "jackpot:spring")]
    subject: String,
    /// Number of the event of the ledger that is delivered next: from 1, not beyond what is delivered next anyway.
    #[schema(value_type = u64, example = 8_000, minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    from_n: EventNumber,
}

/// The number of an event of the ledger.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
struct EventNumber(u64);

impl TryFrom<u64> for EventNumber {
    type Error = &'static str;

    fn try_from(n: u64) -> Result<Self, Self::Error> {
        match n {
            1..=MAX_N => Ok(Self(n)),
            _ => Err("must be an integer from 1 to 9007199254740991"),
        }
    }
}

impl Described for ReplayBody {}

/// An event to pass.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkipBody {
    /// The subject.
    #[schema(example = "jackpot:spring")]
    subject: String,
    /// Id of the event. It is the next one of the subject.
    #[schema(example = "jackpot:spring:9f1c0a44d2b7e633:8820:0")]
    id: String,
    /// 1 to 500 characters, no control characters.
    #[schema(value_type = String, example = "the receiver can't read it", min_length = 1, max_length = 500)]
    reason: Reason,
}

impl Described for SkipBody {}

/// The routes, described. Every route must be listed.
#[derive(OpenApi)]
#[openapi(
    paths(put, list, get, delete, pause, resume, replay, skip, test),
    tags((name = "subscriptions", description = "Events out: to webhooks, Kafka and NATS, at least once, in order within a subject"))
)]
pub struct ApiDoc;

/// Mounts the routes.
pub fn routes(config: &mut ServiceConfig, events: &Events) {
    config
        .app_data(Data::new(events.clone()))
        .route("/v1/subscriptions", jackpot_kernel::http::get().to(list))
        .route("/v1/subscriptions/{id}", web::put().to(put))
        .route("/v1/subscriptions/{id}", jackpot_kernel::http::get().to(get))
        .route("/v1/subscriptions/{id}", web::delete().to(delete))
        .route("/v1/subscriptions/{id}/pause", web::post().to(pause))
        .route("/v1/subscriptions/{id}/resume", web::post().to(resume))
        .route("/v1/subscriptions/{id}/replay", web::post().to(replay))
        .route("/v1/subscriptions/{id}/skip", web::post().to(skip))
        .route("/v1/subscriptions/{id}/test", web::post().to(test));
}

/// Makes a subscription, or changes one.
///
/// Each event goes to the target as a `CloudEvents` object, in order within a subject: to a webhook as a signed POST, until it
/// answers 2xx; to Kafka or NATS, until the broker acknowledges it.
/// A change keeps what was delivered, and the key. `from` counts for subjects that the subscription did not have before.
#[utoipa::path(put, path = "/v1/subscriptions/{id}", operation_id = "put_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = SubscriptionDocument),
    responses((status = 201, description = "Made", body = SubscriptionBody), (status = 200, description = "Changed, or as it was", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::TooManySubscriptions]))))]
pub(crate) async fn put(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
    Body(document): Body<SubscriptionDocument>,
) -> Result<HttpResponse, Problem> {
    let shared = &events.0;
    let definition = Definition::check(document, &types(&events), &shared.allowed).map_err(refused)?;
    let stored = shared.subscriptions.put(&id, &definition, &shared.secrets, &by).await?;
    events.changed(&id);
    let body = shown(&events, stored.subscription, &mut { LAG_BUDGET }).await?;
    Ok(if stored.is_new {
        HttpResponse::Created().json(body)
    } else {
        HttpResponse::Ok().json(body)
    })
}

/// All subscriptions, in the order of their ids.
#[utoipa::path(get, path = "/v1/subscriptions", operation_id = "list_subscriptions", tag = "subscriptions", security(("bearer" = [])),
    responses((status = 200, description = "All of them", body = SubscriptionList)))]
pub(crate) async fn list(_: auth::Read, _: QueryOf<Nothing>, events: Data<Events>) -> Result<HttpResponse, Problem> {
    let (mut items, mut budget) = (Vec::new(), LAG_BUDGET);
    for subscription in events.0.subscriptions.all().await? {
        items.push(shown(&events, subscription, &mut budget).await?);
    }
    Ok(HttpResponse::Ok().json(SubscriptionList { items }))
}

/// A subscription, and how far it is with each subject.
#[utoipa::path(get, path = "/v1/subscriptions/{id}", operation_id = "get_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The subscription", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn get(_: auth::Read, PathOf(id): PathOf<Id>, events: Data<Events>) -> Result<HttpResponse, Problem> {
    answer(&events, &id).await
}

/// Deletes a subscription, and what it knows of its subjects. One of the same id later is another one.
#[utoipa::path(delete, path = "/v1/subscriptions/{id}", operation_id = "delete_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 204, description = "Deleted")),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn delete(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
) -> Result<HttpResponse, Problem> {
    events.0.subscriptions.delete(&id, &by).await?;
    events.changed(&id);
    Ok(HttpResponse::NoContent().finish())
}

/// Stops deliveries. What happens meanwhile is delivered after a resume.
#[utoipa::path(post, path = "/v1/subscriptions/{id}/pause", operation_id = "pause_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "Paused", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn pause(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
) -> Result<HttpResponse, Problem> {
    events.0.subscriptions.pause(&id, &by).await?;
    events.paused(&id).await;
    answer(&events, &id).await
}

/// Delivers again, also after a 410: beginning with that event. What failed is tried again at once.
#[utoipa::path(post, path = "/v1/subscriptions/{id}/resume", operation_id = "resume_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "Running", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn resume(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
) -> Result<HttpResponse, Problem> {
    events.0.subscriptions.resume(&id, &by).await?;
    events.changed(&id);
    answer(&events, &id).await
}

/// Delivers events of a subject again, from one of them on.
#[utoipa::path(post, path = "/v1/subscriptions/{id}/replay", operation_id = "replay_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = ReplayBody),
    responses((status = 200, description = "They are delivered again", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn replay(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
    Body(body): Body<ReplayBody>,
) -> Result<HttpResponse, Problem> {
    let (kind, subject) = subject(&body.subject)?;
    let subscriptions = &events.0.subscriptions;
    let from_n = body.from_n.0;
    subscriptions.get(&id).await?;
    reached(subscriptions, &id, kind, &subject, Position { n: from_n, i: 0 }).await?;
    subscriptions.replay(&id, kind, &subject, from_n, &by).await?;
    events.changed(&id);
    answer(&events, &id).await
}

/// Passes the next event of a subject, which its target can't take. Any other id is 409.
#[utoipa::path(post, path = "/v1/subscriptions/{id}/skip", operation_id = "skip_event", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    request_body(content = SkipBody),
    responses((status = 200, description = "Passed", body = SubscriptionBody)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound, Code::NotNext]))))]
pub(crate) async fn skip(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
    Body(body): Body<SkipBody>,
) -> Result<HttpResponse, Problem> {
    let subscriptions = &events.0.subscriptions;
    let subscription = subscriptions.get(&id).await?;
    let (kind, subject) = subject(&body.subject)?;
    let named = position_of(&body.id).unwrap_or_default();
    let row = reached(subscriptions, &id, kind, &subject, named).await?;
    let next = next(&events, &subscription, &row).await?;
    let to = match next {
        Some((to, next)) if next == body.id => to,
        other => return Err(StoreError::NotNext(other.map(|(_, next)| next)).into()),
    };
    let reason = body.reason.into_string();
    subscriptions
        .skip(&subscription, &row, to, &body.id, &reason, &by)
        .await?;
    events.changed(&id);
    answer(&events, &id).await
}

/// Sends one event of the type `jackpot.test.v1` to the target over a new connection, and says what it answered. Changes nothing.
#[utoipa::path(post, path = "/v1/subscriptions/{id}/test", operation_id = "test_subscription", tag = "subscriptions", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "What came of it", body = ProbeAnswer)),
    extensions(("x-problems" = json!([Code::SubscriptionNotFound]))))]
pub(crate) async fn test(
    _: auth::Operate,
    PathOf(id): PathOf<Id>,
    events: Data<Events>,
) -> Result<HttpResponse, Problem> {
    let shared = &events.0;
    let subscription = shared.subscriptions.get(&id).await?;
    let nonce = hex::encode(random::bytes::<16>().map_err(StoreError::from)?);
    let now = Timestamp::now();
    let message = Arc::new(Message::test(shared.ledger_id(), &id, &nonce, now.as_millisecond()));
    let key = subscription.key(&shared.secrets);
    let outcome = match shared.sinks.of(subscription.definition.destination(), key) {
        Ok(sink) => {
            let (message, mut one) = (Arc::clone(&message), JoinSet::new());
            one.spawn_on(async move { sink.send_anew(&message).await }, shared.tests.tasks());
            let outcome = one.join_next().await.and_then(Result::ok);
            outcome.unwrap_or_else(|| Outcome::failed("the test broke: the log has the cause"))
        }
        Err(lacks) => Outcome::failed(lacks),
    };
    let (delivered, status, error) = match outcome {
        Outcome::Delivered(status) => (true, status, None),
        Outcome::Gone => (false, Some(410), Some("the target answered 410 Gone".to_owned())),
        Outcome::Failed { status, error } => (false, status, Some(error)),
    };
    Ok(HttpResponse::Ok().json(ProbeAnswer {
        id: message.id.clone(),
        delivered,
        status,
        error,
    }))
}

fn refused(violations: Vec<Violation>) -> Problem {
    Problem::invalid_request(violations.into_iter().map(FieldError::from).collect())
}

pub(super) fn wrong(field: &str, rule: impl Into<String>) -> Problem {
    Problem::invalid_request(vec![FieldError::new(field, rule)])
}

fn subject(name: &str) -> Result<(KindName, Id), Problem> {
    subject_of(name).ok_or_else(|| wrong("subject", "must be a kind and an id, such as jackpot:spring"))
}

async fn answer(events: &Events, id: &Id) -> Result<HttpResponse, Problem> {
    let subscription = events.0.subscriptions.get(id).await?;
    let body = shown(events, subscription, &mut { LAG_BUDGET }).await?;
    Ok(HttpResponse::Ok().json(body))
}

/// The place after the next event of a subject, and the id of that event.
async fn next(
    events: &Events,
    subscription: &Subscription,
    row: &StreamRow,
) -> Result<Option<(Position, String)>, Problem> {
    let mut from = row.position();
    loop {
        let block = events
            .0
            .outbox
            .read(row.kind, &row.id, from, &subscription.definition)
            .await?;
        for told in &block.told {
            if let Some((i, _)) = told.events.first() {
                return Ok(Some((after(told, *i), id_of(row.kind, &row.id, told, *i))));
            }
        }
        match block.next_n() {
            Some(next) => from = Position { n: next, i: 0 },
            None => return Ok(None),
        }
    }
}

async fn shown(events: &Events, of: Subscription, budget: &mut u64) -> Result<SubscriptionBody, Problem> {
    let shared = &events.0;
    let (rows, now_ms) = shared.subscriptions.streams(&of.id, MAX_STREAMS).await?;
    let is_retrying = rows.iter().any(|row| row.tries > 0);
    let alarm = rows
        .iter()
        .any(|row| row.failing_ms > 0 && now_ms - row.failing_ms >= ALARM_MS);
    let mut streams = Vec::with_capacity(rows.len());
    for row in rows {
        let lag = shared
            .outbox
            .lag(row.kind, &row.id, row.position(), &of.definition, budget);
        streams.push(StreamBody {
            subject: format!("{}:{}", row.kind, row.id),
            delivered_n: row.delivered_n(),
            lag: lag.await?,
            last_error: Some(row.last_error).filter(|error| !error.is_empty()),
            next_try_at: (row.next_try_ms > 0).then(|| rfc3339(row.next_try_ms)),
        });
    }
    let key = of.key(&shared.secrets);
    let document = of.definition.document().clone();
    Ok(SubscriptionBody {
        id: of.id,
        target: document.target,
        types: document.types,
        subjects: document.subjects,
        from: document.from,
        state: match of.status {
            Status::Running if is_retrying => SubscriptionState::Retrying,
            Status::Running => SubscriptionState::Running,
            Status::Paused => SubscriptionState::Paused,
            Status::Disabled => SubscriptionState::Disabled,
        },
        alarm,
        verification_key: key.map(|key| key.public()),
        streams,
    })
}
