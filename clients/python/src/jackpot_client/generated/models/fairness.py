from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cycle_body import CycleBody
    from ..models.epoch_body import EpochBody


T = TypeVar("T", bound="Fairness")


@_attrs_define
class Fairness:
    """The epochs of a jackpot and the cycles of its must-hit rules, oldest first.

    Attributes:
        cycles (list[CycleBody]): Of tiers that have or had `must_hit_by`.
        epochs (list[EpochBody]):
        jackpot_id (str):  Example: spring.
        next_cursor (None | str | Unset): Cursor of the next page; null on the last. A page has at most 200 epochs and
            200 cycles.
    """

    cycles: list[CycleBody]
    epochs: list[EpochBody]
    jackpot_id: str
    next_cursor: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cycles = []
        for cycles_item_data in self.cycles:
            cycles_item = cycles_item_data.to_dict()
            cycles.append(cycles_item)

        epochs = []
        for epochs_item_data in self.epochs:
            epochs_item = epochs_item_data.to_dict()
            epochs.append(epochs_item)

        jackpot_id = self.jackpot_id

        next_cursor: None | str | Unset
        if isinstance(self.next_cursor, Unset):
            next_cursor = UNSET
        else:
            next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cycles": cycles,
                "epochs": epochs,
                "jackpot_id": jackpot_id,
            }
        )
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.cycle_body import CycleBody
        from ..models.epoch_body import EpochBody

        d = dict(src_dict)
        cycles = []
        _cycles = d.pop("cycles")
        for cycles_item_data in _cycles:
            cycles_item = CycleBody.from_dict(cycles_item_data)

            cycles.append(cycles_item)

        epochs = []
        _epochs = d.pop("epochs")
        for epochs_item_data in _epochs:
            epochs_item = EpochBody.from_dict(epochs_item_data)

            epochs.append(epochs_item)

        jackpot_id = d.pop("jackpot_id")

        def _parse_next_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        next_cursor = _parse_next_cursor(d.pop("next_cursor", UNSET))

        fairness = cls(
            cycles=cycles,
            epochs=epochs,
            jackpot_id=jackpot_id,
            next_cursor=next_cursor,
        )

        fairness.additional_properties = d
        return fairness

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
