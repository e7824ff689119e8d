from typing import Literal

DrawDrawByValue = Literal["external", "service"]

DRAW_DRAW_BY_VALUE_VALUES: set[DrawDrawByValue] = {
    "external",
    "service",
}


def check_draw_draw_by_value(value: str) -> DrawDrawByValue:
    if value in DRAW_DRAW_BY_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {DRAW_DRAW_BY_VALUE_VALUES!r}"
    )
