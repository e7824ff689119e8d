from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.draw_draw_by_value import DrawDrawByValue, check_draw_draw_by_value

if TYPE_CHECKING:
    from ..models.attempt_body import AttemptBody


T = TypeVar("T", bound="Draw")


@_attrs_define
class Draw:
    """How the entry was drawn. With the epoch's seed, once published, anyone can repeat the draw.

    Attributes:
        attempts (list[AttemptBody]):
        by (DrawDrawByValue): service, or external: the game of its source drew, and no seed of the service explains its
            ranks. Example: service.
        commitment (str):
        definition_version (int):  Example: 3.
        epoch (int):  Example: 1.
    """

    attempts: list[AttemptBody]
    by: DrawDrawByValue
    commitment: str
    definition_version: int
    epoch: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        by: str = self.by

        commitment = self.commitment

        definition_version = self.definition_version

        epoch = self.epoch

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "by": by,
                "commitment": commitment,
                "definition_version": definition_version,
                "epoch": epoch,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_body import AttemptBody

        d = dict(src_dict)
        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = AttemptBody.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        by = check_draw_draw_by_value(d.pop("by"))

        commitment = d.pop("commitment")

        definition_version = d.pop("definition_version")

        epoch = d.pop("epoch")

        draw = cls(
            attempts=attempts,
            by=by,
            commitment=commitment,
            definition_version=definition_version,
            epoch=epoch,
        )

        draw.additional_properties = d
        return draw

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
