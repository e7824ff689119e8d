from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="JoinToken")


@_attrs_define
class JoinToken:
    """A token that opens the waiting page.

    Attributes:
        expires_at (datetime.datetime): When it expires, RFC 3339. Example: 2026-11-22T10:02:00.000Z.
        token (str): JWT of the type `join+jwt`. Its holder can join as this user, so give it to the user's browser
            alone.
        url (str): Path of the page, with the token; for this service's origin. Example:
            /rooms/lobby/wait?token=eyJhbGciOiJFZERTQSJ9.
    """

    expires_at: datetime.datetime
    token: str
    url: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        expires_at = self.expires_at.isoformat()

        token = self.token

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "expires_at": expires_at,
                "token": token,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        token = d.pop("token")

        url = d.pop("url")

        join_token = cls(
            expires_at=expires_at,
            token=token,
            url=url,
        )

        join_token.additional_properties = d
        return join_token

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
