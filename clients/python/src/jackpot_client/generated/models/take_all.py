from typing import Literal

TakeAll = Literal["all"]

TAKE_ALL_VALUES: set[TakeAll] = {
    "all",
}


def check_take_all(value: str) -> TakeAll:
    if value in TAKE_ALL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TAKE_ALL_VALUES!r}")
