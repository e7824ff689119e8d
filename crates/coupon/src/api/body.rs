//! A request for a coupon as clients see it.

use jackpot_api::coupon::{IssueBody, Redeemed, RequestState, ShownCode};
use jackpot_core::clock::rfc3339;

use crate::coupons::Request;
use crate::record::{Issue, Record, State};
use jackpot_kernel::http::auth::Caller;

/// The same body for this caller.
pub(crate) fn shown_to(mut body: IssueBody, caller: &Caller) -> IssueBody {
    if !caller.sees_codes() {
        body.hide_codes();
    }
    body
}

/// A request with all its details.
pub(crate) fn issue_body(request: Request) -> IssueBody {
    let Record { user, state } = request.record;
    let body = IssueBody {
        result: state.name(),
        request_id: request.request_id,
        user_id: Some(user.user),
        metadata: user.metadata.map(Into::into),
        ..IssueBody::default()
    };
    match state {
        State::Issued(issue) => with(body, issue),
        State::Voided(issue, at_ms) => IssueBody {
            voided_at: Some(rfc3339(at_ms)),
            ..with(body, issue)
        },
        State::Redeemed(issue, redemption) => IssueBody {
            redeemed: Some(Redeemed::from(&redemption)),
            ..with(body, issue)
        },
        State::AlreadyIssued { at_ms, .. } => IssueBody {
            decided_at: Some(rfc3339(at_ms)),
            issue: request
                .first
                .and_then(|(request_id, record)| first(request_id, record))
                .map(Box::new),
            ..body
        },
        State::OutOfStock { at_ms } | State::NotOpen { at_ms } | State::Closed { at_ms } => IssueBody {
            decided_at: Some(rfc3339(at_ms)),
            ..body
        },
        State::Queued { attempts, at_ms, .. } => IssueBody {
            position: request.place.map(|before| before + 1),
            queued_at: Some(rfc3339(at_ms)),
            attempts: Some(attempts),
            ..body
        },
        State::Dead { attempts, at_ms, .. } => IssueBody {
            queued_at: Some(rfc3339(at_ms)),
            attempts: Some(attempts),
            ..body
        },
    }
}

fn with(body: IssueBody, issue: Issue) -> IssueBody {
    IssueBody {
        sequence: Some(issue.sequence),
        code: Some(ShownCode(Some(issue.code.to_string()))),
        issued_at: Some(rfc3339(issue.at_ms)),
        ..body
    }
}

/// The first issue of a user who has reached the limit, as it was made. A refusal says the same for ever, even if that
/// issue is voided or redeemed later.
pub(super) fn first(request_id: String, record: Record) -> Option<IssueBody> {
    let issue = record.state.unit()?;
    let body = IssueBody {
        result: RequestState::Issued,
        request_id,
        user_id: Some(record.user.user),
        metadata: record.user.metadata.map(Into::into),
        ..IssueBody::default()
    };
    Some(with(body, issue))
}
