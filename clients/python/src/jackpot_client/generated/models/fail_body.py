from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="FailBody")


@_attrs_define
class FailBody:
    """An attempt to settle a payout that failed.

    Attributes:
        reason (str): 1 to 500 characters, no control characters. Example: account closed.
        settlement_id (str): Chosen by the operator. A jackpot uses it once. Example: transfer-2210.
    """

    reason: str
    settlement_id: str

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        settlement_id = self.settlement_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
                "settlement_id": settlement_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        settlement_id = d.pop("settlement_id")

        fail_body = cls(
            reason=reason,
            settlement_id=settlement_id,
        )

        return fail_body
