from typing import Literal

AdjustmentState = Literal["done", "held", "withdrawn"]

ADJUSTMENT_STATE_VALUES: set[AdjustmentState] = {
    "done",
    "held",
    "withdrawn",
}


def check_adjustment_state(value: str) -> AdjustmentState:
    if value in ADJUSTMENT_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ADJUSTMENT_STATE_VALUES!r}"
    )
