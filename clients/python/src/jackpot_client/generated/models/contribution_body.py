from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ContributionBody")


@_attrs_define
class ContributionBody:
    """The contribution of an entry or a batch to a tier, in minor units.

    Attributes:
        amount (int): Whole units by which the tier's contributions grew. Example: 1.
        pool (int): The meter right after it. Example: 18811.
        tier (str):  Example: grand.
    """

    amount: int
    pool: int
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        pool = self.pool

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount": amount,
                "pool": pool,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        pool = d.pop("pool")

        tier = d.pop("tier")

        contribution_body = cls(
            amount=amount,
            pool=pool,
            tier=tier,
        )

        contribution_body.additional_properties = d
        return contribution_body

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
