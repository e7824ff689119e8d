//! Definitions: put, list, get.

use std::sync::Arc;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::jackpot::{DefinitionOfVersion, Jackpot, MeterBody, PendingDefinition, Status};
use jackpot_core::ids::{Id, MAX_ID_LEN};
use jackpot_core::jackpot::definition::{Definition, MAX_ORIGINS, MAX_RANKS, MAX_SOURCE_KEYS, MAX_SOURCES, Violation};
use jackpot_core::jackpot::document::Document;
use jackpot_core::jackpot::origin;
use jackpot_core::jackpot::settlement::Terms;
use jackpot_core::violation::{check_new_name, name_and_rest};
use serde::Deserialize;
use utoipa::IntoParams;

use super::Api;
use crate::error::PlayError;
use crate::kept;
use crate::scripts::Snapshot;
use crate::view::{Meter, parse_definition};
use jackpot_kernel::http::auth::Anyone;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::conditions::{put_answer, tagged, wanted};
use jackpot_kernel::http::page::{PageQuery, page_of};
use jackpot_kernel::http::{Body, Code, Described, PageBody, PathOf, Problem, QueryOf, auth, cached};
use jackpot_kernel::subject::kinds::{COUPON, JACKPOT, KindName, ROOM};

/// Bytes of a rank. The longest form has 173; the rest is for spaces.
const MAX_RANK_BYTES: usize = 256;

/// Bytes of a source: its id, its fields, the names of its keys, and spaces.
const MAX_SOURCE_BYTES: usize = MAX_ID_LEN + 256 + MAX_SOURCE_KEYS * (MAX_ID_LEN + MAX_BETWEEN);

/// Bytes between two origins: quotes, a comma, a new line with its spaces.
const MAX_BETWEEN: usize = 16;

/// How long clients without a key may keep a version, in seconds. A version never changes, but the jackpot may become
/// private.
const VERSION_MAX_AGE_S: u32 = 60;

jackpot_kernel::document!(DefinitionBody, Document);

impl Described for DefinitionBody {
    const RELATED: &'static [&'static str] = &["contribution", "tiers", "odds", "min_stake", "max_stake", "sources"];
    const LONGEST: usize = MAX_RANKS * MAX_RANK_BYTES
        + MAX_ORIGINS * (origin::MAX_CHARS + MAX_BETWEEN)
        + MAX_SOURCES * MAX_SOURCE_BYTES
        + 16 * 1_024;

    fn subjects(&self) -> Vec<(KindName, &Id)> {
        let coupons = self.0.coupons().map(|(_, coupon)| (COUPON, coupon));
        self.0.room.iter().map(|room| (ROOM, room)).chain(coupons).collect()
    }

    fn broken(self) -> Vec<Violation> {
        Definition::check(self.0).err().unwrap_or_default()
    }
}

/// Creates a jackpot, or changes its definition.
///
/// A change that touches money or odds of a live pool waits for the next take of all. If the jackpot is paused with
/// nothing pending, it applies at once. The last PUT is the target: it replaces a waiting definition.
#[utoipa::path(put, path = "/v1/jackpots/{id}", operation_id = "put_jackpot", tag = "jackpots", security(("bearer" = [])),
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body(content = Document),
    responses((status = 201, description = "Created", body = Jackpot), (status = 200, description = "Changed, or as it was", body = Jackpot)),
    extensions(("x-problems" = json!([Code::JackpotClosed, Code::PreconditionFailed]))))]
pub(crate) async fn put(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
    Body(DefinitionBody(document)): Body<DefinitionBody>,
) -> Result<HttpResponse, Problem> {
    let wanted = wanted(&request)?;
    let (definition, status) = check(&id, document)?;
    api.operate.check_times(&definition)?;
    let missing = api.named.missing(definition.document()).await?;
    if !missing.is_empty() {
        return Err(PlayError::Invalid(missing).into());
    }
    api.operate
        .views
        .registry
        .observe_ledger(&api.sql, JACKPOT, &id)
        .await?;
    let put = api.operate.define(&id, &definition, wanted, status, &by).await?;
    if put.created {
        // So the limit of the backlog holds from its first event, even if the database stops answering now.
        api.operate.views.registry.known(&id).count_backlog();
    }
    Ok(put_answer(put, read(&api, &id).await?.1))
}

/// All jackpots, in the order of their ids; for a bound key its own.
#[utoipa::path(get, path = "/v1/jackpots", operation_id = "list_jackpots", tag = "jackpots", security(("bearer" = [])), params(PageQuery),
    responses((status = 200, description = "A page", body = PageBody<Jackpot>)))]
pub(crate) async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(page): QueryOf<PageQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let own = caller.own(JACKPOT);
    let (items, next_cursor) = page_of(&api.operate.views.registry, &page, own, async |id| {
        Ok::<_, PlayError>(read(&api, id).await?.1)
    })
    .await?;
    Ok(HttpResponse::Ok().json(PageBody { items, next_cursor }))
}

/// What to show beside a jackpot.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JackpotQuery {
    /// Adds what this source has brought and won, as `source`.
    #[param(value_type = Option<String>)]
    source_id: Option<Id>,
}

/// A jackpot, with the `ETag` of its definition.
#[utoipa::path(get, path = "/v1/jackpots/{id}", operation_id = "get_jackpot", tag = "jackpots", security(("bearer" = [])), params(("id" = String, Path), JackpotQuery),
    responses((status = 200, description = "The jackpot", body = Jackpot)))]
pub(crate) async fn get(
    _: auth::Read,
    PathOf(id): PathOf<Id>,
    QueryOf(query): QueryOf<JackpotQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let (version, mut jackpot) = read(&api, &id).await?;
    if let Some(source) = &query.source_id {
        jackpot.source = Some(api.queries.source_meters(&id, source).await?);
    }
    Ok(tagged(version, jackpot))
}

/// A version of the definition, as it was put. With it, anyone can repeat the draw of an entry.
///
/// Needs no key if the jackpot's `public_meter` is set. The room and the sources are not in it.
#[utoipa::path(get, path = "/v1/jackpots/{id}/definitions/{version}", operation_id = "get_definition", tag = "jackpots", security((), ("bearer" = [])),
    params(("id" = String, Path), ("version" = u64, Path)),
    responses((status = 200, description = "That version", body = DefinitionOfVersion, headers(
            ("Cache-Control" = String, description = "`public, max-age=60` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak; without a key"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")),
    extensions(("x-problems" = json!([Code::DefinitionNotFound]))))]
pub(crate) async fn of_version(
    caller: Anyone,
    PathOf((id, version)): PathOf<(Id, u64)>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    if !caller.has_key() {
        let page = of_version_for_all(&api, &id, version).await?;
        return Ok(page.answer_without_key(&request, "application/json", VERSION_MAX_AGE_S));
    }
    let found = api.operate.views.refresh(&id).await;
    let is_public = matches!(&found, Ok((_, view)) if view.definition.document().public_meter);
    // For callers who may not read, a private jackpot looks like a missing one.
    if !is_public {
        caller.require_read()?;
    }
    let (known, _) = found?;
    // Redis has the versions that records need, the ledger all that it has read.
    let json = match api.operate.views.stored_definition(&known, version).await? {
        Some(json) => Some(json),
        None => kept::definition(&api.sql, &id, version).await?,
    };
    let json = json.ok_or_else(|| PlayError::DefinitionNotFound {
        id: id.clone(),
        version,
    })?;
    let document = parse_definition(&id, &json)?.document().clone();
    Ok(cached::private(DefinitionOfVersion::new(document, version)))
}

/// The same for callers without a key. Asks Redis only if this instance neither remembers the version nor knows that
/// the jackpot lacks it.
async fn of_version_for_all(api: &Api, id: &Id, version: u64) -> Result<Page, Problem> {
    let shown = api.meters.public(id).await?;
    if !(1..=shown.last_version).contains(&version) {
        let id = id.clone();
        return Err(PlayError::DefinitionNotFound { id, version }.into());
    }
    let definition = stored(api, id, version).await?;
    let body = DefinitionOfVersion::new(definition.document().clone(), version);
    Ok(Page::new(serde_json::to_string(&body).expect("plain data is JSON")))
}

/// A version that the jackpot has had. Asks Redis, then the ledger, only if this instance does not remember it.
pub(super) async fn stored(api: &Api, id: &Id, version: u64) -> Result<Arc<Definition>, Problem> {
    let (_, view) = api.operate.views.view(id).await?;
    match api.operate.views.definition(id, &view, version).await {
        Ok(definition) => Ok(definition),
        // Redis has the versions that records need, the ledger all that it has read.
        Err(PlayError::Lost { .. }) => {
            let json = kept::definition(&api.sql, id, version).await?;
            let json = json.ok_or_else(|| PlayError::DefinitionNotFound {
                id: id.clone(),
                version,
            })?;
            Ok(Arc::new(parse_definition(id, &json)?))
        }
        Err(error) => Err(error.into()),
    }
}

/// The jackpot, and the last version of its definition.
pub(super) async fn read(api: &Api, id: &Id) -> Result<(u64, Jackpot), PlayError> {
    let snapshot = api.operate.views.snapshot(id).await?;
    let parse = |json: &str| serde_json::from_str::<Document>(json);
    let lost = |e: serde_json::Error| PlayError::Lost {
        id: id.clone(),
        what: format!("a readable definition: {e}"),
    };
    let Snapshot {
        status,
        version,
        last_version,
        meters,
        hold,
        ..
    } = snapshot;
    let mut document = parse(&snapshot.definition).map_err(lost)?;
    let mut pending = snapshot.waiting.as_deref().map(parse).transpose().map_err(lost)?;
    if let Some(hold) = hold {
        let show = |document: &mut Document, terms: Terms| {
            (document.settlement, document.approval_above) = (terms.settlement, terms.approval_above);
        };
        if let Some(asked) = hold.asked_terms() {
            // It is the last PUT's, so it waits with the definition that waits, or beside the one in force.
            show(pending.get_or_insert_with(|| document.clone()), asked);
        }
        show(&mut document, hold.terms());
    }
    let pending = pending.map(|document| PendingDefinition {
        document,
        version: last_version,
    });
    let jackpot = Jackpot {
        stopped: api.operate.views.registry.stopped(),
        meters: meters.into_iter().map(body).collect(),
        ..Jackpot::new(document, pending, status, version)
    };
    Ok((last_version, jackpot))
}

fn body(meter: Meter) -> MeterBody {
    MeterBody {
        tier: meter.tier,
        pool: meter.pool,
        reserve: meter.reserve,
        overflow: meter.overflow,
        remainder_micro: meter.remainder_micro,
        contributed: meter.contributed,
        funded: meter.funded,
        paid: meter.paid,
        wins: meter.wins,
        reversed: meter.reversed,
        transferred_in: meter.transferred_in,
        transferred_out: meter.transferred_out,
        voided: meter.voided,
    }
}

fn check(id: &Id, mut document: Document) -> Result<(Definition, Status), PlayError> {
    let name = check_new_name(&document.name);
    let status = document.status.take().map_or(Status::Open, Status::from);
    let wrong_id = (document.id != *id).then(|| Violation::new("id", format!("must be '{id}', as in the path")));
    match (name_and_rest(name, Definition::check(document)), wrong_id) {
        (Ok(definition), None) => Ok((definition, status)),
        (Ok(_), Some(wrong)) => Err(PlayError::Invalid(vec![wrong])),
        (Err(mut all), wrong) => {
            all.extend(wrong);
            Err(PlayError::Invalid(all))
        }
    }
}
