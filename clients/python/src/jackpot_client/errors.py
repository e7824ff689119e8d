"""Errors of the client.

JackpotError
├── NoAnswer              time-out or broken connection: nothing is known, the same id may be sent again
├── UnexpectedAnswer      an answer that the API does not describe, such as a load balancer's own page
├── ProblemError          the service refused: `code`, `status`, `detail`, `fields`, `retry_after`
│   ├── InvalidRequest    wrong content; the same request fails again
│   ├── Unauthorized      no valid key
│   ├── Forbidden         the key has another role or is bound to other subjects
│   ├── PassRefused       the jackpot needs a pass of its waiting room
│   ├── NotFound          no such jackpot, entry, payout, coupon, request, room or ticket
│   ├── IdReused          the id was used with other content
│   ├── SubjectStopped    the jackpot is paused or closed, the coupon retired, or everything stopped: nothing was taken
│   ├── SubjectSuspended  the service has stopped it itself; the same id may be sent again
│   ├── CouponRefused     already issued, out of stock, not open: final for the request
│   ├── Conflict          the state does not allow it, or has changed
│   ├── RateLimited       too many requests
│   ├── Unavailable       not now; the same id may be sent again
│   └── ServiceFault      a fault in the service
├── VerificationError     a signature or a draw is not what it claims to be
└── SeedNotPublished      the epoch is open: its draws can be checked later
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class FieldError(NamedTuple):
    """A field that is wrong, such as `tiers[0].min_payout`, and the rule that it breaks."""

    field: str
    message: str


class JackpotError(Exception):
    """Any error of this client."""

    # How often the request was sent before the client gave up.
    tries: int = 0


class NoAnswer(JackpotError):
    """No answer came. The service may have done it: only the same id finds out without doing it again."""


class UnexpectedAnswer(JackpotError):
    """An answer that the API does not describe."""

    def __init__(self, status: int, about: str, retry_after: float | None = None) -> None:
        super().__init__(f"status {status}: {about}")
        self.status = status
        self.retry_after = retry_after


class ProblemError(JackpotError):
    """A problem of the service (RFC 9457). `docs/reference/problems.md` says what each code means."""

    def __init__(
        self, status: int, document: Mapping[str, Any], retry_after: float | None, request_id: str | None
    ) -> None:
        self.status = status
        self.code = str(document["code"])
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        wrong = [item for item in document.get("errors") or [] if isinstance(item, Mapping)]
        self.fields = [FieldError(str(item.get("field", "")), str(item.get("message", ""))) for item in wrong]
        # Seconds, from the header.
        self.retry_after = retry_after
        # `X-Request-Id`: the service's log has the same one.
        self.request_id = request_id
        # The whole answer. Some problems have more members, such as `issue` of `already-issued`.
        self.document = document
        super().__init__(f"{self.code} ({status}): {self.detail}")


class InvalidRequest(ProblemError):
    """Wrong content. `fields` names each field; the same request fails again."""


class Unauthorized(ProblemError):
    """The key is missing, unknown, revoked or expired."""


class Forbidden(ProblemError):
    """The key has another role, or is bound to other subjects."""


class PassRefused(ProblemError):
    """The jackpot has a waiting room, and the pass is missing, of another user, or has expired."""


class NotFound(ProblemError):
    """There is no such jackpot, entry, payout, coupon, request, room or ticket."""


class IdReused(ProblemError):
    """The id was used with other content. Two rounds have the same id, or a round was changed after it was sent."""


class SubjectStopped(ProblemError):
    """The jackpot is paused or closed, the coupon retired, or everything stopped by an operator (`stopped`).

    Nothing was taken, by earlier tries neither. It is not sent again: a stop lasts longer than a round.
    """


class SubjectSuspended(ProblemError):
    """The service has stopped the jackpot, coupon or room: the books disagree, or a restore is running.

    It may not have looked whether an earlier try was taken. Send the same id again once it is open.
    """


class CouponRefused(ProblemError):
    """A coupon's refusal, final for its request: `already-issued`, `out-of-stock`, `not-open`, `not-issued`,
    `redeemed`."""


class Conflict(ProblemError):
    """The state does not allow it, or is no longer the one that the caller has read."""


class RateLimited(ProblemError):
    """Too many requests. Nothing was done."""


class Unavailable(ProblemError):
    """Not now. The same id may be sent again: nothing is done twice."""


class ServiceFault(ProblemError):
    """A fault in the service. Its log has the cause under `request_id`."""


class VerificationError(JackpotError):
    """A receipt, head, pass or draw is not what it claims to be. Do not use it."""


class SeedNotPublished(JackpotError):
    """The entry's epoch is open, or its seed is not public yet. Check the draw later."""


# Every code of the API. A test compares it with the description.
FAMILIES: dict[type[ProblemError], tuple[str, ...]] = {
    InvalidRequest: (
        "invalid-request",
        "invalid-json",
        "malformed-request",
        "headers-too-large",
        "too-large",
        "unsupported-media-type",
        "method-not-allowed",
        "amount-too-large",
        "currency-mismatch",
        "approval-weaker",
        "entry-index-off",
        "too-many-takes",
    ),
    Unauthorized: ("unauthorized",),
    Forbidden: ("forbidden", "wrong-subject", "wrong-source", "same-owner"),
    PassRefused: ("pass-required", "pass-expired"),
    NotFound: (
        "not-found",
        "jackpot-not-found",
        "definition-not-found",
        "winners-not-shown",
        "entry-not-found",
        "payout-not-found",
        "adjustment-not-found",
        "transfer-not-found",
        "coupon-not-found",
        "issue-not-found",
        "room-not-found",
        "ticket-not-found",
        "pre-queue-not-found",
        "subscription-not-found",
    ),
    IdReused: (
        "entry-id-reused",
        "adjustment-id-reused",
        "request-id-reused",
        "transfer-id-reused",
        "reversal-id-reused",
        "settlement-id-reused",
        "redemption-id-reused",
    ),
    SubjectStopped: ("jackpot-paused", "jackpot-closed", "coupon-paused", "coupon-closed", "coupon-retired", "stopped"),
    SubjectSuspended: ("jackpot-suspended", "coupon-suspended", "room-suspended"),
    CouponRefused: ("already-issued", "out-of-stock", "not-open", "not-issued", "redeemed"),
    Conflict: (
        "precondition-failed",
        "not-admitted",
        "room-not-open",
        "reconciliation-mismatch",
        "entry-has-prize",
        "entry-pending",
        "entry-reversed",
        "too-late",
        "jackpot-open",
        "must-hit-open",
        "not-tracked",
        "adjustment-done",
        "adjustment-withdrawn",
        "transfer-done",
        "transfer-withdrawn",
        "payout-held",
        "payout-settled",
        "payout-void",
        "payout-void-requested",
        "payout-not-void-requested",
        "approval-superseded",
        "not-next",
        "too-many-subscriptions",
    ),
    RateLimited: ("rate-limited",),
    Unavailable: (
        "store-unavailable",
        "not-ready",
        "too-many-streams",
        "too-many-uploads",
        "too-many-exports",
        "request-timeout",
    ),
    ServiceFault: ("internal",),
}
_BY_CODE = {code: family for family, codes in FAMILIES.items() for code in codes}

# For codes that a later version of the service may have.
_BY_STATUS: dict[int, type[ProblemError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    412: Conflict,
    429: RateLimited,
    503: Unavailable,
}


def problem(
    status: int, document: Mapping[str, Any], retry_after: float | None = None, request_id: str | None = None
) -> ProblemError:
    """The error of a problem document, by its code, or by its status if this version does not know the code."""
    family = _BY_CODE.get(str(document["code"])) or _BY_STATUS.get(status)
    if family is None:
        family = InvalidRequest if status < 500 else ServiceFault
    return family(status, document, retry_after, request_id)
