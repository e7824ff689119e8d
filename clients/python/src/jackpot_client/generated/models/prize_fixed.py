from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.fixed_prize import FixedPrize


T = TypeVar("T", bound="PrizeFixed")


@_attrs_define
class PrizeFixed:
    """A fixed amount from a tier's pool.

    Attributes:
        fixed (FixedPrize): A fixed amount from a tier's pool.
    """

    fixed: FixedPrize

    def to_dict(self) -> dict[str, Any]:
        fixed = self.fixed.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "fixed": fixed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.fixed_prize import FixedPrize

        d = dict(src_dict)
        fixed = FixedPrize.from_dict(d.pop("fixed"))

        prize_fixed = cls(
            fixed=fixed,
        )

        return prize_fixed
