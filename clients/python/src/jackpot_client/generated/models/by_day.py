from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ByDay")


@_attrs_define
class ByDay:
    """The trigger is a second before this time of day.

    Attributes:
        at (str): `HH:MM`, 00:00 to 23:59. Example: 20:00.
        zone (str): A time zone of the IANA database. Example: Asia/Seoul.
    """

    at: str
    zone: str

    def to_dict(self) -> dict[str, Any]:
        at = self.at

        zone = self.zone

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "at": at,
                "zone": zone,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = d.pop("at")

        zone = d.pop("zone")

        by_day = cls(
            at=at,
            zone=zone,
        )

        return by_day
