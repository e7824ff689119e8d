//! The answer with the comparison of Redis with the ledger.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::{Serialize, Serializer};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Api;
use crate::http::query::Nothing;
use crate::http::{Code, Problem, QueryOf, auth};
use crate::ledger::problem::{Mismatch, reconciliation_mismatch};
use crate::ledger::queries::reconciliation::Reconciliation;
use crate::subject::kinds::{self, KindName};

/// The last reconciliation of every subject, a list for each kind.
#[derive(Debug)]
pub(crate) struct Reconciliations(BTreeMap<KindName, Vec<Reconciliation>>);

impl Serialize for Reconciliations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, rows)| (kind.compared_as, rows)))
    }
}

/// The schema of a kind's rows, which the kind itself describes: `CouponReconciliation`.
fn row_schema(kind: KindName) -> String {
    if kind.compared_as == "items" {
        return "Reconciliation".to_owned();
    }
    let (first, rest) = kind.as_str().split_at(1);
    format!("{}{rest}Reconciliation", first.to_uppercase())
}

impl ToSchema for Reconciliations {}

impl PartialSchema for Reconciliations {
    fn schema() -> RefOr<Schema> {
        let object =
            ObjectBuilder::new().description(Some("The last reconciliation of every jackpot, coupon and room."));
        let object = kinds::all().fold(object, |object, kind| {
            let rows = ArrayBuilder::new().items(Ref::from_schema_name(row_schema(kind)));
            object.property(kind.compared_as, rows).required(kind.compared_as)
        });
        object.into()
    }
}

/// The last reconciliation of every jackpot, coupon and room: Redis beside the ledger, at the same event. It shows the
/// identity of the money of each tier, term by term, the stock of each coupon, and the settings of each room. Lag alone is
/// no mismatch. A bound key sees its own subjects.
#[utoipa::path(get, path = "/v1/reconciliation", operation_id = "get_reconciliation", tag = "ledger", security(("bearer" = [])),
    responses((status = 200, description = "No mismatch", body = Reconciliations),
        (status = 409, description = "with the same `items`, `coupons` and `rooms`", body = Mismatch<Reconciliations>, content_type = "application/problem+json")),
    extensions(("x-problems" = json!([Code::ReconciliationMismatch]))))]
pub(crate) async fn get(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    _: QueryOf<Nothing>,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    let mut compared = Reconciliations(BTreeMap::new());
    let mut wrong = Vec::new();
    for kind in kinds::all() {
        let mut rows = api.queries.reconciliations(kind, |id| caller.may_see(kind, id)).await?;
        for Reconciliation { subject, last } in &mut rows {
            last.lag = api.lag(kind, &subject.id);
            if last.clean == Some(false) {
                wrong.push(named(kind, &subject.id));
            }
        }
        compared.0.insert(kind, rows);
    }
    if wrong.is_empty() {
        return Ok(HttpResponse::Ok().json(compared));
    }
    let detail = format!("Redis and the ledger disagree about {}", wrong.join(", "));
    Ok(reconciliation_mismatch(&detail, &compared))
}

/// For people: a kind whose ids have no prefix is named by the id alone.
fn named(kind: KindName, id: &str) -> String {
    if kind.has_prefix() {
        format!("{kind} {id}")
    } else {
        id.to_owned()
    }
}
