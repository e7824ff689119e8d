from typing import Literal

PutCouponIfNoneMatch = Literal["*"]

PUT_COUPON_IF_NONE_MATCH_VALUES: set[PutCouponIfNoneMatch] = {
    "*",
}


def check_put_coupon_if_none_match(value: str) -> PutCouponIfNoneMatch:
    if value in PUT_COUPON_IF_NONE_MATCH_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PUT_COUPON_IF_NONE_MATCH_VALUES!r}"
    )
