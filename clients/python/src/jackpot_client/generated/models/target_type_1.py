from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.kafka import Kafka


T = TypeVar("T", bound="TargetType1")


@_attrs_define
class TargetType1:
    """
    Attributes:
        kafka (Kafka): A topic of Kafka. The key of each record is the event's subject.
    """

    kafka: Kafka
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kafka = self.kafka.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kafka": kafka,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.kafka import Kafka

        d = dict(src_dict)
        kafka = Kafka.from_dict(d.pop("kafka"))

        target_type_1 = cls(
            kafka=kafka,
        )

        target_type_1.additional_properties = d
        return target_type_1

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
