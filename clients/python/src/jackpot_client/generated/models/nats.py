from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Nats")


@_attrs_define
class Nats:
    """A subject of NATS that a stream of `JetStream` keeps. Each message has the event's id as `Nats-Msg-Id`.

    Attributes:
        connection (str): The name of a connection of the settings (`[events.connections.NAME]`) of this kind. Example:
            main.
        subject (str): Words of printable ASCII without `*` and `>`, with a `.` between, up to 249 characters. Example:
            jackpot.events.
    """

    connection: str
    subject: str

    def to_dict(self) -> dict[str, Any]:
        connection = self.connection

        subject = self.subject

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "connection": connection,
                "subject": subject,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        connection = d.pop("connection")

        subject = d.pop("subject")

        nats = cls(
            connection=connection,
            subject=subject,
        )

        return nats
