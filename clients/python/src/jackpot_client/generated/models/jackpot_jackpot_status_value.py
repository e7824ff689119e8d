from typing import Literal

JackpotJackpotStatusValue = Literal["closed", "open", "paused", "suspended"]

JACKPOT_JACKPOT_STATUS_VALUE_VALUES: set[JackpotJackpotStatusValue] = {
    "closed",
    "open",
    "paused",
    "suspended",
}


def check_jackpot_jackpot_status_value(value: str) -> JackpotJackpotStatusValue:
    if value in JACKPOT_JACKPOT_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {JACKPOT_JACKPOT_STATUS_VALUE_VALUES!r}"
    )
