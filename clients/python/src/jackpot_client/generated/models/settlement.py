from typing import Literal

Settlement = Literal["none", "tracked"]

SETTLEMENT_VALUES: set[Settlement] = {
    "none",
    "tracked",
}


def check_settlement(value: str) -> Settlement:
    if value in SETTLEMENT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SETTLEMENT_VALUES!r}"
    )
