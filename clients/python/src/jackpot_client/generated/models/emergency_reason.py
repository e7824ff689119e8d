from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="EmergencyReason")


@_attrs_define
class EmergencyReason:
    """Why everything stops, or takes requests again.

    Attributes:
        reason (str): The reason: 1 to 500 characters, no control characters. Refused requests are answered with it.
            Example: payout table under review.
    """

    reason: str

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        emergency_reason = cls(
            reason=reason,
        )

        return emergency_reason
