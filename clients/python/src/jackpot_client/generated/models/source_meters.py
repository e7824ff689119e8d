from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.source_meter import SourceMeter


T = TypeVar("T", bound="SourceMeters")


@_attrs_define
class SourceMeters:
    """What a source has brought and won.

    Attributes:
        entries (int): Entries of the source. Example: 8812.
        meters (list[SourceMeter]):
        source_id (str):  Example: slot-9.
    """

    entries: int
    meters: list[SourceMeter]
    source_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entries = self.entries

        meters = []
        for meters_item_data in self.meters:
            meters_item = meters_item_data.to_dict()
            meters.append(meters_item)

        source_id = self.source_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entries": entries,
                "meters": meters,
                "source_id": source_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_meter import SourceMeter

        d = dict(src_dict)
        entries = d.pop("entries")

        meters = []
        _meters = d.pop("meters")
        for meters_item_data in _meters:
            meters_item = SourceMeter.from_dict(meters_item_data)

            meters.append(meters_item)

        source_id = d.pop("source_id")

        source_meters = cls(
            entries=entries,
            meters=meters,
            source_id=source_id,
        )

        source_meters.additional_properties = d
        return source_meters

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
