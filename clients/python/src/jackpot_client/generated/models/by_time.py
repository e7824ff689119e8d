from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ByTime")


@_attrs_define
class ByTime:
    """The trigger is a second from `after_s + 1` to `within_s` after the begin.

    Attributes:
        after_s (int): Seconds after the begin in which nothing is due; below `within_s`. Example: 0.
        within_s (int): Seconds from the begin to the deadline, at most 315,360,000 (ten years). Example: 86400.
    """

    after_s: int
    within_s: int

    def to_dict(self) -> dict[str, Any]:
        after_s = self.after_s

        within_s = self.within_s

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "after_s": after_s,
                "within_s": within_s,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        after_s = d.pop("after_s")

        within_s = d.pop("within_s")

        by_time = cls(
            after_s=after_s,
            within_s=within_s,
        )

        return by_time
