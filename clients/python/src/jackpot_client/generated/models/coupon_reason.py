from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CouponReason")


@_attrs_define
class CouponReason:
    """Why a coupon is paused, resumed or closed.

    Attributes:
        reason (str): The reason: 1 to 500 characters, no control characters. Example: check.
    """

    reason: str

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        coupon_reason = cls(
            reason=reason,
        )

        return coupon_reason
