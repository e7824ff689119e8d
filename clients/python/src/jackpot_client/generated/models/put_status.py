from typing import Literal

PutStatus = Literal["closed", "open", "paused", "suspended"]

PUT_STATUS_VALUES: set[PutStatus] = {
    "closed",
    "open",
    "paused",
    "suspended",
}


def check_put_status(value: str) -> PutStatus:
    if value in PUT_STATUS_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PUT_STATUS_VALUES!r}"
    )
