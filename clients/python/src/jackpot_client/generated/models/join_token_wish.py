from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="JoinTokenWish")


@_attrs_define
class JoinTokenWish:
    """A user to be sent to the waiting page.

    Attributes:
        return_to (str): Where the page sends the admitted user, with the pass as the parameter `room_pass`: an absolute
            https URL
            without user, password and fragment; http only for localhost and 127.0.0.1. Its origin must be one of the room's
            `return_origins`, now and when the page sends the user. Example: https://shop.example/play.
        user_id (str): The user who joins. Example: u-1.
    """

    return_to: str
    user_id: str

    def to_dict(self) -> dict[str, Any]:
        return_to = self.return_to

        user_id = self.user_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "return_to": return_to,
                "user_id": user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        return_to = d.pop("return_to")

        user_id = d.pop("user_id")

        join_token_wish = cls(
            return_to=return_to,
            user_id=user_id,
        )

        return join_token_wish
