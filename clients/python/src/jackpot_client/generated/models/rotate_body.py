from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RotateBody")


@_attrs_define
class RotateBody:
    """Why an epoch ends.

    Attributes:
        reason (str): The reason: 1 to 500 characters, no control characters. Example: check.
        cycles (bool | Unset): Whether open cycles end too, without a take. Those that follow have a new nonce.
    """

    reason: str
    cycles: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        cycles = self.cycles

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if cycles is not UNSET:
            field_dict["cycles"] = cycles

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        cycles = d.pop("cycles", UNSET)

        rotate_body = cls(
            reason=reason,
            cycles=cycles,
        )

        return rotate_body
