from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RedeemWish")


@_attrs_define
class RedeemWish:
    """The use of a unit.

    Attributes:
        redemption_id (str): Chosen by the client. The same id is the same redemption of this unit. Example:
            till-7-0001.
        reference (str): Such as the number of a receipt: 1 to 200 characters, no control characters. Example: receipt
            8812.
    """

    redemption_id: str
    reference: str

    def to_dict(self) -> dict[str, Any]:
        redemption_id = self.redemption_id

        reference = self.reference

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "redemption_id": redemption_id,
                "reference": reference,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        redemption_id = d.pop("redemption_id")

        reference = d.pop("reference")

        redeem_wish = cls(
            redemption_id=redemption_id,
            reference=reference,
        )

        return redeem_wish
