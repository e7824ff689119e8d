from typing import Literal

RequestState = Literal[
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "voided",
]

REQUEST_STATE_VALUES: set[RequestState] = {
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "voided",
}


def check_request_state(value: str) -> RequestState:
    if value in REQUEST_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REQUEST_STATE_VALUES!r}"
    )
