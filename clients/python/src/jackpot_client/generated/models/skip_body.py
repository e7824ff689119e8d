from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SkipBody")


@_attrs_define
class SkipBody:
    """An event to pass.

    Attributes:
        id (str): Id of the event. It is the next one of the subject. Example: jackpot:spring:9f1c0a44d2b7e633:8820:0.
        reason (str): 1 to 500 characters, no control characters. Example: the receiver can't read it.
        subject (str): The subject. Example: jackpot:spring.
    """

    id: str
    reason: str
    subject: str

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        reason = self.reason

        subject = self.subject

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "reason": reason,
                "subject": subject,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        reason = d.pop("reason")

        subject = d.pop("subject")

        skip_body = cls(
            id=id,
            reason=reason,
            subject=subject,
        )

        return skip_body
