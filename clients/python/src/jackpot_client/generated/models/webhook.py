from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Webhook")


@_attrs_define
class Webhook:
    """A URL that takes each event as a POST.

    Attributes:
        url (str): `https://` or `http://`, without user, password and fragment; up to 2,048 characters. Its host has
            only public
            addresses, unless the setting `events.allow_private_targets` is on. Example: https://hooks.example/jackpot.
    """

    url: str

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        webhook = cls(
            url=url,
        )

        return webhook
