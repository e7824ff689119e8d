from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReversedPart")


@_attrs_define
class ReversedPart:
    """What one tier gave back: the entry's exact contribution.

    Attributes:
        amount (int): Whole minor units. Example: 1.
        amount_micro (int): Its millionths. Example: 0.
        tier (str):  Example: grand.
        uncovered (int): The part that the tier did not hold any more; it counts as funded. Whole minor units. Example:
            0.
        uncovered_micro (int): Its millionths. Example: 0.
    """

    amount: int
    amount_micro: int
    tier: str
    uncovered: int
    uncovered_micro: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        amount_micro = self.amount_micro

        tier = self.tier

        uncovered = self.uncovered

        uncovered_micro = self.uncovered_micro

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount": amount,
                "amount_micro": amount_micro,
                "tier": tier,
                "uncovered": uncovered,
                "uncovered_micro": uncovered_micro,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        amount_micro = d.pop("amount_micro")

        tier = d.pop("tier")

        uncovered = d.pop("uncovered")

        uncovered_micro = d.pop("uncovered_micro")

        reversed_part = cls(
            amount=amount,
            amount_micro=amount_micro,
            tier=tier,
            uncovered=uncovered,
            uncovered_micro=uncovered_micro,
        )

        reversed_part.additional_properties = d
        return reversed_part

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
