from typing import Literal

CouponStatus = Literal["closed", "ended", "open", "paused", "suspended"]

COUPON_STATUS_VALUES: set[CouponStatus] = {
    "closed",
    "ended",
    "open",
    "paused",
    "suspended",
}


def check_coupon_status(value: str) -> CouponStatus:
    if value in COUPON_STATUS_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {COUPON_STATUS_VALUES!r}"
    )
