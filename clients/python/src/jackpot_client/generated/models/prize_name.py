from typing import Literal

PrizeName = Literal["coupon", "fixed", "must-hit", "none", "pool"]

PRIZE_NAME_VALUES: set[PrizeName] = {
    "coupon",
    "fixed",
    "must-hit",
    "none",
    "pool",
}


def check_prize_name(value: str) -> PrizeName:
    if value in PRIZE_NAME_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PRIZE_NAME_VALUES!r}"
    )
