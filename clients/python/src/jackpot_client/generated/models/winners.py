from typing import Literal

Winners = Literal["full", "masked", "off"]

WINNERS_VALUES: set[Winners] = {
    "full",
    "masked",
    "off",
}


def check_winners(value: str) -> Winners:
    if value in WINNERS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {WINNERS_VALUES!r}")
