from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TransferPart")


@_attrs_define
class TransferPart:
    """What one tier gave.

    Attributes:
        overflow (int): Minor units. Example: 0.
        pool (int): Minor units. Example: 500.
        remainder_micro (int): Millionths of a minor unit, of pool and reserve together. Example: 0.
        reserve (int): Minor units. Example: 20.
        tier (str):  Example: grand.
        to_tier (str): The tier of the other jackpot. Example: grand.
    """

    overflow: int
    pool: int
    remainder_micro: int
    reserve: int
    tier: str
    to_tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        overflow = self.overflow

        pool = self.pool

        remainder_micro = self.remainder_micro

        reserve = self.reserve

        tier = self.tier

        to_tier = self.to_tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "overflow": overflow,
                "pool": pool,
                "remainder_micro": remainder_micro,
                "reserve": reserve,
                "tier": tier,
                "to_tier": to_tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        overflow = d.pop("overflow")

        pool = d.pop("pool")

        remainder_micro = d.pop("remainder_micro")

        reserve = d.pop("reserve")

        tier = d.pop("tier")

        to_tier = d.pop("to_tier")

        transfer_part = cls(
            overflow=overflow,
            pool=pool,
            remainder_micro=remainder_micro,
            reserve=reserve,
            tier=tier,
            to_tier=to_tier,
        )

        transfer_part.additional_properties = d
        return transfer_part

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
