from typing import Literal

JackpotStatus = Literal["closed", "open", "paused", "suspended"]

JACKPOT_STATUS_VALUES: set[JackpotStatus] = {
    "closed",
    "open",
    "paused",
    "suspended",
}


def check_jackpot_status(value: str) -> JackpotStatus:
    if value in JACKPOT_STATUS_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {JACKPOT_STATUS_VALUES!r}"
    )
