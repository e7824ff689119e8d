from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Refused")


@_attrs_define
class Refused:
    """How many jackpots, coupons and rooms this instance refuses. What an operator paused or closed is not refused.

    Attributes:
        coupons (int): Coupons.
        jackpots (int): Jackpots.
        rooms (int): Rooms.
    """

    coupons: int
    jackpots: int
    rooms: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        coupons = self.coupons

        jackpots = self.jackpots

        rooms = self.rooms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "coupons": coupons,
                "jackpots": jackpots,
                "rooms": rooms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        coupons = d.pop("coupons")

        jackpots = d.pop("jackpots")

        rooms = d.pop("rooms")

        refused = cls(
            coupons=coupons,
            jackpots=jackpots,
            rooms=rooms,
        )

        refused.additional_properties = d
        return refused

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
