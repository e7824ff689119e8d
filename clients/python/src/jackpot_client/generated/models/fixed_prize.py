from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="FixedPrize")


@_attrs_define
class FixedPrize:
    """A fixed amount from a tier's pool.

    Attributes:
        amount (int): Minor units, from 1 to the tier's cap. Example: 10.
        tier (str): The tier. Example: grand.
    """

    amount: int
    tier: str

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        tier = self.tier

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "amount": amount,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        tier = d.pop("tier")

        fixed_prize = cls(
            amount=amount,
            tier=tier,
        )

        return fixed_prize
