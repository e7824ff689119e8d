//! A request for a coupon as clients see it.

use jackpot_core::clock::rfc3339;
use jackpot_core::ids::PersonId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::code::Code;
use crate::coupons::Request;
use crate::metadata::Metadata;
use crate::record::{Issue, Record, State};
use crate::redemption::Redeemed;
use jackpot_kernel::http::auth::Caller;

/// A request and its result. A field that its result does not use is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct IssueBody {
    /// issued, voided, already-issued, out-of-stock, not-open, coupon-closed, queued or dead
    #[schema(example = "issued")]
    pub(super) result: &'static str,
    #[schema(example = "r-1")]
    pub(super) request_id: String,
    #[schema(value_type = String, example = "u-1")]
    pub(super) user_id: Option<PersonId>,
    /// As the request brought it; left out without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    metadata: Option<Metadata>,
    /// Number of the unit within the coupon, from 1; never used twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 7)]
    sequence: Option<u64>,
    /// Code of the unit: 18 characters of Crockford's base32, the last two being check characters. Null for a `read`
    /// key made without `--codes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "7KQ2XM-0V9TPB-3HWD1C")]
    code: Option<Shown>,
    /// RFC 3339, like all times here.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voided_at: Option<String>,
    /// How its user has used the unit; left out while it is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    redeemed: Option<Redeemed>,
    /// Time of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    /// For `already-issued`: the first issue that counts for the user, as it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub(super) issue: Option<Box<IssueBody>>,
    /// Place in the queue, from 1: the next request to be served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 3)]
    pub(super) position: Option<u64>,
    /// Time of joining the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_at: Option<String>,
    /// How often the queue's consumer has taken it.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
}

/// A code, or null for a caller who may not see it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Shown(Option<Code>);

impl IssueBody {
    /// The same body for this caller.
    pub(crate) fn shown_to(mut self, caller: &Caller) -> Self {
        if !caller.sees_codes() {
            self.hide_codes();
        }
        self
    }

    fn hide_codes(&mut self) {
        if let Some(code) = &mut self.code {
            code.0 = None;
        }
        if let Some(first) = &mut self.issue {
            first.hide_codes();
        }
    }

    /// With all its details.
    pub(crate) fn of(request: Request) -> Self {
        let Record { user, state } = request.record;
        let body = Self {
            result: state.as_str(),
            request_id: request.request_id,
            user_id: Some(user.user),
            metadata: user.metadata,
            ..Self::default()
        };
        match state {
            State::Issued(issue) => body.with(issue),
            State::Voided(issue, at_ms) => Self {
                voided_at: Some(rfc3339(at_ms)),
                ..body.with(issue)
            },
            State::Redeemed(issue, redemption) => Self {
                redeemed: Some(Redeemed::from(&redemption)),
                ..body.with(issue)
            },
            State::AlreadyIssued { at_ms, .. } => Self {
                decided_at: Some(rfc3339(at_ms)),
                issue: request
                    .first
                    .and_then(|(request_id, record)| first(request_id, record))
                    .map(Box::new),
                ..body
            },
            State::OutOfStock { at_ms } | State::NotOpen { at_ms } | State::Closed { at_ms } => Self {
                decided_at: Some(rfc3339(at_ms)),
                ..body
            },
            State::Queued { attempts, at_ms, .. } => Self {
                position: request.place.map(|before| before + 1),
                queued_at: Some(rfc3339(at_ms)),
                attempts: Some(attempts),
                ..body
            },
            State::Dead { attempts, at_ms, .. } => Self {
                queued_at: Some(rfc3339(at_ms)),
                attempts: Some(attempts),
                ..body
            },
        }
    }

    fn with(self, issue: Issue) -> Self {
        Self {
            sequence: Some(issue.sequence),
            code: Some(Shown(Some(issue.code))),
            issued_at: Some(rfc3339(issue.at_ms)),
            ..self
        }
    }
}

/// The first issue of a user who has reached the limit, as it was made. A refusal says the same for ever, even if that
/// issue is voided or redeemed later.
pub(super) fn first(request_id: String, record: Record) -> Option<IssueBody> {
    let issue = record.state.unit()?;
    let body = IssueBody {
        result: "issued",
        request_id,
        user_id: Some(record.user.user),
        metadata: record.user.metadata,
        ..IssueBody::default()
    };
    Some(body.with(issue))
}
