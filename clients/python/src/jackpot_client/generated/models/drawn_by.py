from typing import Literal

DrawnBy = Literal["external", "service"]

DRAWN_BY_VALUES: set[DrawnBy] = {
    "external",
    "service",
}


def check_drawn_by(value: str) -> DrawnBy:
    if value in DRAWN_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DRAWN_BY_VALUES!r}")
