from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SourceMeter")


@_attrs_define
class SourceMeter:
    """What a source has brought to a tier and won from it.

    Attributes:
        contributed (int): Whole minor units of the exact sum. Example: 1500.
        contributed_micro (int): Millionths of a minor unit, on top of `contributed`. Example: 0.
        paid (int): Minor units. Example: 700.
        payouts (int): Number of payouts. Example: 3.
        tier (str):  Example: grand.
    """

    contributed: int
    contributed_micro: int
    paid: int
    payouts: int
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        contributed = self.contributed

        contributed_micro = self.contributed_micro

        paid = self.paid

        payouts = self.payouts

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contributed": contributed,
                "contributed_micro": contributed_micro,
                "paid": paid,
                "payouts": payouts,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        contributed = d.pop("contributed")

        contributed_micro = d.pop("contributed_micro")

        paid = d.pop("paid")

        payouts = d.pop("payouts")

        tier = d.pop("tier")

        source_meter = cls(
            contributed=contributed,
            contributed_micro=contributed_micro,
            paid=paid,
            payouts=payouts,
            tier=tier,
        )

        source_meter.additional_properties = d
        return source_meter

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
