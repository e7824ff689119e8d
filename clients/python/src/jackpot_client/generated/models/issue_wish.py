from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="IssueWish")


@_attrs_define
class IssueWish:
    """One unit for one user.

    Attributes:
        request_id (str): Chosen by the client. The same id is the same request while the coupon's records are kept.
            Example: r-1.
        user_id (str):  Example: u-1.
    """

    request_id: str
    user_id: str

    def to_dict(self) -> dict[str, Any]:
        request_id = self.request_id

        user_id = self.user_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "request_id": request_id,
                "user_id": user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        request_id = d.pop("request_id")

        user_id = d.pop("user_id")

        issue_wish = cls(
            request_id=request_id,
            user_id=user_id,
        )

        return issue_wish
