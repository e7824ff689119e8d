from typing import Literal

RefusedReason = Literal["backlog", "ledger-stopped", "lost", "suspended"]

REFUSED_REASON_VALUES: set[RefusedReason] = {
    "backlog",
    "ledger-stopped",
    "lost",
    "suspended",
}


def check_refused_reason(value: str) -> RefusedReason:
    if value in REFUSED_REASON_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REFUSED_REASON_VALUES!r}"
    )
