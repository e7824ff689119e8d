from typing import Literal

TransferState = Literal["done", "held", "in-transit", "withdrawn"]

TRANSFER_STATE_VALUES: set[TransferState] = {
    "done",
    "held",
    "in-transit",
    "withdrawn",
}


def check_transfer_state(value: str) -> TransferState:
    if value in TRANSFER_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {TRANSFER_STATE_VALUES!r}"
    )
