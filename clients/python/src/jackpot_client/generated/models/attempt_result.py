from typing import Literal

AttemptResult = Literal[
    "already-issued", "issued", "none", "not-open", "out-of-stock", "paid", "retry"
]

ATTEMPT_RESULT_VALUES: set[AttemptResult] = {
    "already-issued",
    "issued",
    "none",
    "not-open",
    "out-of-stock",
    "paid",
    "retry",
}


def check_attempt_result(value: str) -> AttemptResult:
    if value in ATTEMPT_RESULT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ATTEMPT_RESULT_VALUES!r}"
    )
