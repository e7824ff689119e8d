from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="TakeSharePpm")


@_attrs_define
class TakeSharePpm:
    """Parts per million of it, rounded down, from 1. 1,000,000 counts as a take of all.

    Attributes:
        share_ppm (int): Parts per million of it, rounded down, from 1. 1,000,000 counts as a take of all.
    """

    share_ppm: int

    def to_dict(self) -> dict[str, Any]:
        share_ppm = self.share_ppm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "share_ppm": share_ppm,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        share_ppm = d.pop("share_ppm")

        take_share_ppm = cls(
            share_ppm=share_ppm,
        )

        return take_share_ppm
