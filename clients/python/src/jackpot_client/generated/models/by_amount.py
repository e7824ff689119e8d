from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ByAmount")


@_attrs_define
class ByAmount:
    """The trigger is an amount from `low + 1` to `high`.

    Attributes:
        high (int): The largest trigger; above `low`, at most the cap. Example: 10000.
        low (int): Below every trigger; at least `min_payout` and `seed`. Example: 5000.
    """

    high: int
    low: int

    def to_dict(self) -> dict[str, Any]:
        high = self.high

        low = self.low

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "high": high,
                "low": low,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        high = d.pop("high")

        low = d.pop("low")

        by_amount = cls(
            high=high,
            low=low,
        )

        return by_amount
