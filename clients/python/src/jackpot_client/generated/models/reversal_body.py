from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReversalBody")


@_attrs_define
class ReversalBody:
    """The cancellation of a round.

    Attributes:
        reason (str): 1 to 500 characters, no control characters. Example: round cancelled.
        reversal_id (str): Chosen by the game: one for each cancelled round. The same id answers as at first. Example:
            cancel-8812.
    """

    reason: str
    reversal_id: str

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        reversal_id = self.reversal_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
                "reversal_id": reversal_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        reversal_id = d.pop("reversal_id")

        reversal_body = cls(
            reason=reason,
            reversal_id=reversal_id,
        )

        return reversal_body
