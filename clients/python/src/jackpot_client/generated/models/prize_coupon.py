from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.coupon_prize import CouponPrize


T = TypeVar("T", bound="PrizeCoupon")


@_attrs_define
class PrizeCoupon:
    """A unit of a coupon.

    Attributes:
        coupon (CouponPrize): A unit of a coupon.
    """

    coupon: CouponPrize

    def to_dict(self) -> dict[str, Any]:
        coupon = self.coupon.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "coupon": coupon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.coupon_prize import CouponPrize

        d = dict(src_dict)
        coupon = CouponPrize.from_dict(d.pop("coupon"))

        prize_coupon = cls(
            coupon=coupon,
        )

        return prize_coupon
