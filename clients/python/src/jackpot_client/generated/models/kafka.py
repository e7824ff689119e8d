from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Kafka")


@_attrs_define
class Kafka:
    """A topic of Kafka. The key of each record is the event's subject.

    Attributes:
        connection (str): The name of a connection of the settings (`[events.connections.NAME]`) of this kind. Example:
            main.
        topic (str): Letters, digits, `.`, `_` and `-`, up to 249. The topic must exist. Example: jackpot-events.
    """

    connection: str
    topic: str

    def to_dict(self) -> dict[str, Any]:
        connection = self.connection

        topic = self.topic

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "connection": connection,
                "topic": topic,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        connection = d.pop("connection")

        topic = d.pop("topic")

        kafka = cls(
            connection=connection,
            topic=topic,
        )

        return kafka
