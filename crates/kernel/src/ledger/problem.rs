//! Maps the ledger's errors to problems: the only place that gives them a status.

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::problem::{CONTENT_TYPE, FieldError, ProblemBody};
use crate::http::{Code, Problem};
use crate::ledger::outgoing::TellError;
use crate::ledger::queries::LedgerError;

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Sql(error) => error.into(),
            LedgerError::Unreadable { .. } | LedgerError::Missing(_) => {
                tracing::error!(%error, "internal error");
                Problem::internal()
            }
            LedgerError::Skipped(_) => Problem::new(Code::EntryNotFound, error.to_string()),
            LedgerError::JackpotNotFound(_) => Problem::new(Code::JackpotNotFound, error.to_string()),
            LedgerError::CouponNotFound(_) => Problem::new(Code::CouponNotFound, error.to_string()),
            LedgerError::PayoutNotFound => Problem::new(Code::PayoutNotFound, error.to_string()),
            LedgerError::Cursor => Problem::invalid_request(vec![FieldError::new(
                "cursor",
                "must be the next_cursor of a page of this list, with the same filters",
            )]),
            LedgerError::EntryIndexOff => Problem::new(Code::EntryIndexOff, error.to_string()),
            LedgerError::NoHistory(_) | LedgerError::NoReport(_) => {
                Problem::store_unavailable(format!("{error}; try again in some seconds"))
            }
            LedgerError::TooManyExports => Problem {
                // An export of a million rows takes some ten seconds.
                retry_after_s: Some(10),
                ..Problem::new(Code::TooManyExports, error.to_string())
            },
        }
    }
}

impl From<TellError> for Problem {
    fn from(error: TellError) -> Self {
        match error {
            TellError::Sql(error) => error.into(),
            TellError::Damaged(..) => {
                tracing::error!(%error, "internal error");
                Problem::internal()
            }
        }
    }
}

/// A problem with what was compared.
#[derive(Serialize, ToSchema)]
pub(crate) struct Mismatch<'a, T> {
    #[serde(flatten)]
    problem: ProblemBody,
    /// As in the answer without a mismatch.
    #[serde(flatten)]
    compared: &'a T,
}

/// 409: Redis and the ledger disagree, with what was compared.
pub(crate) fn reconciliation_mismatch<T: Serialize>(detail: &str, compared: &T) -> HttpResponse {
    let problem = Problem::new(Code::ReconciliationMismatch, detail);
    let problem = problem.body();
    HttpResponse::Conflict()
        .content_type(CONTENT_TYPE)
        .body(serde_json::to_string(&Mismatch { problem, compared }).unwrap_or_default())
}
