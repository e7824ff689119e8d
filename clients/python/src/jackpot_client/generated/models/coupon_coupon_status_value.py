from typing import Literal

CouponCouponStatusValue = Literal["closed", "ended", "open", "paused", "suspended"]

COUPON_COUPON_STATUS_VALUE_VALUES: set[CouponCouponStatusValue] = {
    "closed",
    "ended",
    "open",
    "paused",
    "suspended",
}


def check_coupon_coupon_status_value(value: str) -> CouponCouponStatusValue:
    if value in COUPON_COUPON_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {COUPON_COUPON_STATUS_VALUE_VALUES!r}"
    )
