from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ContributionFixed")


@_attrs_define
class ContributionFixed:
    """Minor units per entry.

    Attributes:
        fixed (int): Minor units per entry.
    """

    fixed: int

    def to_dict(self) -> dict[str, Any]:
        fixed = self.fixed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "fixed": fixed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        fixed = d.pop("fixed")

        contribution_fixed = cls(
            fixed=fixed,
        )

        return contribution_fixed
