//! Payouts and their receipts.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::payout::{ListedPayout, Payout};
use jackpot_core::ids::{EntryRef, Id, PersonId};
use jackpot_core::jackpot::settlement::PayoutState;
use jackpot_core::receipt::Receipt;
use jackpot_core::text::Text;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::ledger::queries::Queries;
use crate::ledger::queries::payouts::{MAX_PAYOUT_ID_CHARS, PayoutFilters};
use jackpot_kernel::http::auth::Role;
use jackpot_kernel::http::{Code, PageBody, PathOf, Problem, QueryOf, auth};
use jackpot_kernel::ledger::api::Api;
use jackpot_kernel::ledger::api::answer::answer;
use jackpot_kernel::ledger::api::page::{Amount, Limit, Paging, Time};
use jackpot_kernel::ledger::queries::{Between, LedgerError};
use jackpot_kernel::subject::kinds::JACKPOT;

/// Which payouts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PayoutQuery {
    /// Of this jackpot.
    #[param(value_type = Option<String>)]
    jackpot_id: Option<Id>,
    /// This one alone.
    #[param(value_type = Option<String>)]
    payout_id: Option<Text<MAX_PAYOUT_ID_CHARS>>,
    /// Of the entries with this id.
    #[param(value_type = Option<String>)]
    entry_id: Option<EntryRef>,
    /// To this player.
    #[param(value_type = Option<String>)]
    player_id: Option<PersonId>,
    /// Out of this tier.
    #[param(value_type = Option<String>)]
    tier: Option<Id>,
    /// Of entries of this source.
    #[param(value_type = Option<String>)]
    source_id: Option<Id>,
    /// In this state. A key with the role `approve` asks for `held`.
    #[param(value_type = Option<PayoutState>)]
    state: Option<PayoutState>,
    /// Paid then or later, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Time>,
    /// Paid before, RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Time>,
    /// Of this amount or more, minor units.
    #[param(value_type = Option<u64>)]
    min_amount: Option<Amount>,
    /// Rows of a page, 1 to 1,000; 100 unless it says. CSV and NDJSON have all rows unless it says.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound key sees the payouts of its own jackpots.
#[utoipa::path(get, path = "/v1/payouts", operation_id = "list_payouts", tag = "ledger", security(("bearer" = [])), params(PayoutQuery),
    responses((status = 200, description = "A page, or all of them as CSV or NDJSON",
            content((PageBody<ListedPayout> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")))),
    extensions(("x-problems" = json!([Code::TooManyExports]))))]
pub async fn list(
    auth::ReadOrApproveFiltered(caller): auth::ReadOrApproveFiltered,
    QueryOf(query): QueryOf<PayoutQuery>,
    request: HttpRequest,
    api: Data<Api>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    caller.check(JACKPOT, query.jackpot_id.as_ref())?;
    if caller.role() == Role::Approve && query.state != Some(PayoutState::Held) {
        return Err(held_alone());
    }
    let filters = PayoutFilters {
        jackpot_id: query.jackpot_id,
        only: caller.own(JACKPOT),
        player_id: query.player_id,
        payout_id: query.payout_id.map(|id| id.as_str().to_owned()),
        entry_id: query.entry_id.map(|id| id.as_str().to_owned()),
        tier: query.tier,
        source_id: query.source_id,
        state: query.state,
        between: Between {
            from: query.from.map(|Time(ms)| ms),
            to: query.to.map(|Time(ms)| ms),
        },
        min_amount: query.min_amount.map(|Amount(minor)| minor),
    };
    let (limit, cursor) = (query.limit, query.cursor);
    let listing = filters.listing();
    let read = move |after, limit| {
        let (queries, filters) = (queries.clone(), filters.clone());
        async move { queries.payouts(&filters, after, limit).await }
    };
    answer(&request, &api, &caller, &listing, Paging { limit, cursor }, read).await
}

/// A payout as lists show it, with its steps. A bound key gets 404 for a payout of another jackpot.
#[utoipa::path(get, path = "/v1/payouts/{payout_id}", operation_id = "get_payout", tag = "ledger", security(("bearer" = [])),
    params(("payout_id" = String, Path)),
    responses((status = 200, description = "The payout", body = Payout)),
    extensions(("x-problems" = json!([Code::PayoutNotFound]))))]
pub async fn get(
    auth::ReadOrApproveFiltered(caller): auth::ReadOrApproveFiltered,
    PathOf(payout_id): PathOf<Text<MAX_PAYOUT_ID_CHARS>>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    let payout = shown(&caller, &queries, payout_id.as_str()).await?;
    Ok(HttpResponse::Ok().json(payout))
}

/// The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another jackpot.
#[utoipa::path(get, path = "/v1/payouts/{payout_id}/receipt", operation_id = "get_receipt", tag = "ledger", security(("bearer" = [])),
    params(("payout_id" = String, Path)),
    responses((status = 200, description = "The receipt", body = Receipt)),
    extensions(("x-problems" = json!([Code::PayoutNotFound]))))]
pub async fn receipt(
    auth::ReadOrApproveFiltered(caller): auth::ReadOrApproveFiltered,
    PathOf(payout_id): PathOf<Text<MAX_PAYOUT_ID_CHARS>>,
    queries: Data<Queries>,
) -> Result<HttpResponse, Problem> {
    let payout = shown(&caller, &queries, payout_id.as_str()).await?;
    Ok(HttpResponse::Ok().json(payout.payout.receipt))
}

/// The payout, if the caller may see it.
async fn shown(caller: &auth::Caller, queries: &Queries, payout_id: &str) -> Result<Payout, Problem> {
    let payout = queries.whole_payout(payout_id).await?;
    // The request names no jackpot, so the answer must not reveal a payout of another jackpot.
    if !caller.may_see(JACKPOT, payout.payout.receipt.jackpot_id.as_str()) {
        return Err(LedgerError::PayoutNotFound.into());
    }
    if caller.role() == Role::Approve && payout.payout.state != PayoutState::Held {
        return Err(held_alone());
    }
    Ok(payout)
}

/// Refuses what a key with the role `approve` may not read.
fn held_alone() -> Problem {
    Problem::forbidden("a key with the role approve reads held payouts alone: ask for state=held".to_owned())
}
