from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CouponPrize")


@_attrs_define
class CouponPrize:
    """A unit of a coupon.

    Attributes:
        coupon_id (str): The coupon; it must exist. Example: coffee.
    """

    coupon_id: str

    def to_dict(self) -> dict[str, Any]:
        coupon_id = self.coupon_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "coupon_id": coupon_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        coupon_id = d.pop("coupon_id")

        coupon_prize = cls(
            coupon_id=coupon_id,
        )

        return coupon_prize
