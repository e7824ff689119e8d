from typing import Literal

AttemptBodyAttemptBodyResultValue = Literal[
    "already-issued", "issued", "none", "not-open", "out-of-stock", "paid", "retry"
]

ATTEMPT_BODY_ATTEMPT_BODY_RESULT_VALUE_VALUES: set[
    AttemptBodyAttemptBodyResultValue
] = {
    "already-issued",
    "issued",
    "none",
    "not-open",
    "out-of-stock",
    "paid",
    "retry",
}


def check_attempt_body_attempt_body_result_value(
    value: str,
) -> AttemptBodyAttemptBodyResultValue:
    if value in ATTEMPT_BODY_ATTEMPT_BODY_RESULT_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ATTEMPT_BODY_ATTEMPT_BODY_RESULT_VALUE_VALUES!r}"
    )
