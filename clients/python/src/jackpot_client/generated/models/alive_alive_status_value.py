from typing import Literal

AliveAliveStatusValue = Literal["ok"]

ALIVE_ALIVE_STATUS_VALUE_VALUES: set[AliveAliveStatusValue] = {
    "ok",
}


def check_alive_alive_status_value(value: str) -> AliveAliveStatusValue:
    if value in ALIVE_ALIVE_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ALIVE_ALIVE_STATUS_VALUE_VALUES!r}"
    )
