//! Definitions: put, list, get.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::coupon::{Coupon, Document};
use jackpot_core::ids::Id;
use jackpot_core::violation::{Violation, check_new_name, name_and_rest};

use super::Api;
use crate::definition::Definition;
use crate::error::CouponError;
use crate::operate::parse_definition;
use crate::scripts::Snapshot;
use jackpot_kernel::http::conditions::{put_answer, tagged, wanted};
use jackpot_kernel::http::page::{PageQuery, page_of};
use jackpot_kernel::http::{Body, Code, Described, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::subject::emergency::Stopped;
use jackpot_kernel::subject::kinds::COUPON;

jackpot_kernel::document!(DefinitionBody, Document);

impl Described for DefinitionBody {
    const RELATED: &'static [&'static str] = &["starts_at", "ends_at"];

    fn broken(self) -> Vec<Violation> {
        Definition::check(self.0).err().unwrap_or_default()
    }
}

fn shown(id: &Id, snapshot: &Snapshot, stopped: Option<Stopped>) -> Result<Coupon, CouponError> {
    let definition = parse_definition(id, &snapshot.definition)?;
    Ok(Coupon {
        id: id.clone(),
        definition: definition.document().clone(),
        status: snapshot.status,
        stopped,
        version: snapshot.version,
        issued: snapshot.issued,
        voided: snapshot.voided,
        remaining: snapshot.remaining(),
        queued: snapshot.queued,
        dead: snapshot.dead,
    })
}

/// Creates a coupon, or changes its definition, which is in force at once.
///
/// The stock cannot go below the number of outstanding units.
#[utoipa::path(put, path = "/v1/coupons/{id}", operation_id = "put_coupon", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body(content = Document),
    responses((status = 201, description = "Created", body = Coupon), (status = 200, description = "Changed, or as it was", body = Coupon)),
    extensions(("x-problems" = json!([
        (Code::CouponRetired, "it ended, its records are dropped, and its id is used up"), Code::PreconditionFailed]))))]
pub(crate) async fn put(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
    Body(DefinitionBody(document)): Body<DefinitionBody>,
) -> Result<HttpResponse, Problem> {
    let wanted = wanted(&request)?;
    let name = check_new_name(&document.name);
    let definition = name_and_rest(name, Definition::check(document)).map_err(CouponError::Invalid)?;
    api.observe_ledger(&id).await?;
    let put = api.coupons.define(&id, &definition, wanted, &by).await?;
    if put.created {
        // So the limit of the backlog holds from its first event, even if the database stops answering now.
        api.coupons.registry.known(&id).count_backlog();
    }
    Ok(put_answer(put, read(&api, &id).await?))
}

/// All coupons, in the order of their ids; for a bound key its own.
#[utoipa::path(get, path = "/v1/coupons", operation_id = "list_coupons", tag = "coupons", security(("bearer" = [])), params(PageQuery),
    responses((status = 200, description = "A page", body = PageBody<Coupon>)))]
pub(crate) async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(page): QueryOf<PageQuery>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let own = caller.own(COUPON);
    let (items, next_cursor) = page_of(&api.coupons.registry, &page, own, async |id| read(&api, id).await).await?;
    Ok(HttpResponse::Ok().json(PageBody { items, next_cursor }))
}

/// A coupon with its counts, and the `ETag` of its definition.
#[utoipa::path(get, path = "/v1/coupons/{id}", operation_id = "get_coupon", tag = "coupons", security(("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The coupon", body = Coupon)))]
pub(crate) async fn get(_: auth::Read, PathOf(id): PathOf<Id>, api: Data<Api>) -> Result<HttpResponse, Problem> {
    let coupon = read(&api, &id).await?;
    Ok(tagged(coupon.version, coupon))
}

pub(super) async fn read(api: &Api, id: &Id) -> Result<Coupon, CouponError> {
    let snapshot = api.coupons.snapshot(id).await?;
    shown(id, &snapshot, api.coupons.registry.stopped())
}
