from typing import Literal

ReverseBy = Literal["operate", "play"]

REVERSE_BY_VALUES: set[ReverseBy] = {
    "operate",
    "play",
}


def check_reverse_by(value: str) -> ReverseBy:
    if value in REVERSE_BY_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REVERSE_BY_VALUES!r}"
    )
