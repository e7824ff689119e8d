from typing import Literal

HitBy = Literal["amount", "time"]

HIT_BY_VALUES: set[HitBy] = {
    "amount",
    "time",
}


def check_hit_by(value: str) -> HitBy:
    if value in HIT_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {HIT_BY_VALUES!r}")
