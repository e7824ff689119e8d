from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.hit_by import HitBy, check_hit_by

T = TypeVar("T", bound="MustHit")


@_attrs_define
class MustHit:
    """A hit by the rule of a tier.

    Attributes:
        by (HitBy): What was due when an entry hit.
        cycle (int): The cycle that it ended. Example: 0.
        tier (str):  Example: grand.
        trigger (int | str): What was due: an amount, or a time.
    """

    by: HitBy
    cycle: int
    tier: str
    trigger: int | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        by: str = self.by

        cycle = self.cycle

        tier = self.tier

        trigger: int | str
        trigger = self.trigger

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "by": by,
                "cycle": cycle,
                "tier": tier,
                "trigger": trigger,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        by = check_hit_by(d.pop("by"))

        cycle = d.pop("cycle")

        tier = d.pop("tier")

        def _parse_trigger(data: object) -> int | str:
            return cast(int | str, data)

        trigger = _parse_trigger(d.pop("trigger"))

        must_hit = cls(
            by=by,
            cycle=cycle,
            tier=tier,
            trigger=trigger,
        )

        must_hit.additional_properties = d
        return must_hit

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
