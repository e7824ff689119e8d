from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.nats import Nats


T = TypeVar("T", bound="TargetType2")


@_attrs_define
class TargetType2:
    """
    Attributes:
        nats (Nats): A subject of NATS that a stream of `JetStream` keeps. Each message has the event's id as `Nats-Msg-
            Id`.
    """

    nats: Nats
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        nats = self.nats.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "nats": nats,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.nats import Nats

        d = dict(src_dict)
        nats = Nats.from_dict(d.pop("nats"))

        target_type_2 = cls(
            nats=nats,
        )

        target_type_2.additional_properties = d
        return target_type_2

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
