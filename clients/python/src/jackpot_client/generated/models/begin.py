from typing import Literal

Begin = Literal["beginning", "now"]

BEGIN_VALUES: set[Begin] = {
    "beginning",
    "now",
}


def check_begin(value: str) -> Begin:
    if value in BEGIN_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BEGIN_VALUES!r}")
