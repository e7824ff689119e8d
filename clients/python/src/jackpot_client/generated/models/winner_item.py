from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WinnerItem")


@_attrs_define
class WinnerItem:
    """A payout as players may see it.

    Attributes:
        amount (int): Minor units. Example: 18811.
        at (datetime.datetime): When it was paid, RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        player (str): The player: masked (the first third of its characters, at most 4, and `…`) or whole, as the
            definition's `winners`
            says. Example: secr….
        tier (str): Out of which tier. Example: grand.
    """

    amount: int
    at: datetime.datetime
    player: str
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        at = self.at.isoformat()

        player = self.player

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount": amount,
                "at": at,
                "player": player,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        player = d.pop("player")

        tier = d.pop("tier")

        winner_item = cls(
            amount=amount,
            at=at,
            player=player,
            tier=tier,
        )

        winner_item.additional_properties = d
        return winner_item

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
