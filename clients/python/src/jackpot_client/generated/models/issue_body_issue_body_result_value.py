from typing import Literal

IssueBodyIssueBodyResultValue = Literal[
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "voided",
]

ISSUE_BODY_ISSUE_BODY_RESULT_VALUE_VALUES: set[IssueBodyIssueBodyResultValue] = {
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "voided",
}


def check_issue_body_issue_body_result_value(
    value: str,
) -> IssueBodyIssueBodyResultValue:
    if value in ISSUE_BODY_ISSUE_BODY_RESULT_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ISSUE_BODY_ISSUE_BODY_RESULT_VALUE_VALUES!r}"
    )
