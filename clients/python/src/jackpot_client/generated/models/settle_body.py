from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SettleBody")


@_attrs_define
class SettleBody:
    """A payout whose winner has the money.

    Attributes:
        reference (str): Of the payment: 1 to 500 characters, no control characters. Example: bank 1.
        settlement_id (str): Chosen by the operator. A jackpot uses it once. Example: transfer-2211.
    """

    reference: str
    settlement_id: str

    def to_dict(self) -> dict[str, Any]:
        reference = self.reference

        settlement_id = self.settlement_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reference": reference,
                "settlement_id": settlement_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reference = d.pop("reference")

        settlement_id = d.pop("settlement_id")

        settle_body = cls(
            reference=reference,
            settlement_id=settlement_id,
        )

        return settle_body
