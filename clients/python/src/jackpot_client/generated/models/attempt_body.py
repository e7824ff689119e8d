from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attempt_result import AttemptResult, check_attempt_result

T = TypeVar("T", bound="AttemptBody")


@_attrs_define
class AttemptBody:
    """One draw of an entry.

    Attributes:
        attempt (int): From 0.
        rank (int): 0 for nothing.
        result (AttemptResult): What came of a draw.
    """

    attempt: int
    rank: int
    result: AttemptResult
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        rank = self.rank

        result: str = self.result

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "rank": rank,
                "result": result,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        attempt = d.pop("attempt")

        rank = d.pop("rank")

        result = check_attempt_result(d.pop("result"))

        attempt_body = cls(
            attempt=attempt,
            rank=rank,
            result=result,
        )

        attempt_body.additional_properties = d
        return attempt_body

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
