from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.reversed_part import ReversedPart


T = TypeVar("T", bound="Reversal")


@_attrs_define
class Reversal:
    """What a reversal gave back.

    Attributes:
        entry_id (str):  Example: round-8812-p7.
        reversal_id (str):  Example: cancel-8812.
        reversed_ (list[ReversedPart]):
    """

    entry_id: str
    reversal_id: str
    reversed_: list[ReversedPart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entry_id = self.entry_id

        reversal_id = self.reversal_id

        reversed_ = []
        for reversed_item_data in self.reversed_:
            reversed_item = reversed_item_data.to_dict()
            reversed_.append(reversed_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entry_id": entry_id,
                "reversal_id": reversal_id,
                "reversed": reversed_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.reversed_part import ReversedPart

        d = dict(src_dict)
        entry_id = d.pop("entry_id")

        reversal_id = d.pop("reversal_id")

        reversed_ = []
        _reversed_ = d.pop("reversed")
        for reversed_item_data in _reversed_:
            reversed_item = ReversedPart.from_dict(reversed_item_data)

            reversed_.append(reversed_item)

        reversal = cls(
            entry_id=entry_id,
            reversal_id=reversal_id,
            reversed_=reversed_,
        )

        reversal.additional_properties = d
        return reversal

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
