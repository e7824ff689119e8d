from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ContributionRatePpm")


@_attrs_define
class ContributionRatePpm:
    """Parts per million of the stake.

    Attributes:
        rate_ppm (int): Parts per million of the stake.
    """

    rate_ppm: int

    def to_dict(self) -> dict[str, Any]:
        rate_ppm = self.rate_ppm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rate_ppm": rate_ppm,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rate_ppm = d.pop("rate_ppm")

        contribution_rate_ppm = cls(
            rate_ppm=rate_ppm,
        )

        return contribution_rate_ppm
