from typing import Literal

ReadyReadyStatusValue = Literal["ready"]

READY_READY_STATUS_VALUE_VALUES: set[ReadyReadyStatusValue] = {
    "ready",
}


def check_ready_ready_status_value(value: str) -> ReadyReadyStatusValue:
    if value in READY_READY_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {READY_READY_STATUS_VALUE_VALUES!r}"
    )
