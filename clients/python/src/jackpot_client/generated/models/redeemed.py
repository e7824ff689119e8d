from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Redeemed")


@_attrs_define
class Redeemed:
    """The use of a unit, as answers, lists and events show it.

    Attributes:
        at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        redemption_id (str): The caller's id of the redemption. Example: till-7-0001.
        reference (str): The caller's text about it. Example: receipt 8812.
    """

    at: datetime.datetime
    redemption_id: str
    reference: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        redemption_id = self.redemption_id

        reference = self.reference

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "redemption_id": redemption_id,
                "reference": reference,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        redemption_id = d.pop("redemption_id")

        reference = d.pop("reference")

        redeemed = cls(
            at=at,
            redemption_id=redemption_id,
            reference=reference,
        )

        redeemed.additional_properties = d
        return redeemed

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
