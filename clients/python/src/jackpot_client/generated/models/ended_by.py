from typing import Literal

EndedBy = Literal["close", "must-hit", "restart", "take"]

ENDED_BY_VALUES: set[EndedBy] = {
    "close",
    "must-hit",
    "restart",
    "take",
}


def check_ended_by(value: str) -> EndedBy:
    if value in ENDED_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENDED_BY_VALUES!r}")
