from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReplayBody")


@_attrs_define
class ReplayBody:
    """Where to deliver again from.

    Attributes:
        from_n (int): Number of the event of the ledger that is delivered next: from 1, not beyond what is delivered
            next anyway. Example: 8000.
        subject (str): The subject. Example: jackpot:spring.
    """

    from_n: int
    subject: str

    def to_dict(self) -> dict[str, Any]:
        from_n = self.from_n

        subject = self.subject

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "from_n": from_n,
                "subject": subject,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        from_n = d.pop("from_n")

        subject = d.pop("subject")

        replay_body = cls(
            from_n=from_n,
            subject=subject,
        )

        return replay_body
