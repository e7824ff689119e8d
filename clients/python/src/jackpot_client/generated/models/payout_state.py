from typing import Literal

PayoutState = Literal[
    "due", "failed", "held", "paid", "settled", "void", "void-requested"
]

PAYOUT_STATE_VALUES: set[PayoutState] = {
    "due",
    "failed",
    "held",
    "paid",
    "settled",
    "void",
    "void-requested",
}


def check_payout_state(value: str) -> PayoutState:
    if value in PAYOUT_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PAYOUT_STATE_VALUES!r}"
    )
