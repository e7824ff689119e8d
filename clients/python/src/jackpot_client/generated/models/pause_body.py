from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PauseBody")


@_attrs_define
class PauseBody:
    """A pause.

    Attributes:
        reason (str): The reason: 1 to 500 characters, no control characters. Example: check.
        keep_waiting (bool | Unset): Whether a waiting definition goes on waiting. Default: False.
    """

    reason: str
    keep_waiting: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        keep_waiting = self.keep_waiting

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if keep_waiting is not UNSET:
            field_dict["keep_waiting"] = keep_waiting

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = d.pop("reason")

        keep_waiting = d.pop("keep_waiting", UNSET)

        pause_body = cls(
            reason=reason,
            keep_waiting=keep_waiting,
        )

        return pause_body
