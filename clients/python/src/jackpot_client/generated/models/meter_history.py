from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.history_point import HistoryPoint


T = TypeVar("T", bound="MeterHistory")


@_attrs_define
class MeterHistory:
    """What a pool held, step by step.

    Attributes:
        points (list[HistoryPoint]): One for each step since the jackpot was created, oldest first, at most the last
            1,000. The last one is the current
            step.
        step_s (int): Length of a step in seconds: 60, 3600 or 86400. Example: 3600.
        tier (str):  Example: grand.
    """

    points: list[HistoryPoint]
    step_s: int
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        points = []
        for points_item_data in self.points:
            points_item = points_item_data.to_dict()
            points.append(points_item)

        step_s = self.step_s

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "points": points,
                "step_s": step_s,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.history_point import HistoryPoint

        d = dict(src_dict)
        points = []
        _points = d.pop("points")
        for points_item_data in _points:
            points_item = HistoryPoint.from_dict(points_item_data)

            points.append(points_item)

        step_s = d.pop("step_s")

        tier = d.pop("tier")

        meter_history = cls(
            points=points,
            step_s=step_s,
            tier=tier,
        )

        meter_history.additional_properties = d
        return meter_history

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
