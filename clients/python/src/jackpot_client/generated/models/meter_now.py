from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.meter_now_meter_now_status_value import (
    MeterNowMeterNowStatusValue,
    check_meter_now_meter_now_status_value,
)

if TYPE_CHECKING:
    from ..models.tier_pool import TierPool


T = TypeVar("T", bound="MeterNow")


@_attrs_define
class MeterNow:
    """The pools of a jackpot.

    Attributes:
        at (datetime.datetime): Time of the reading, RFC 3339.
        jackpot_id (str):  Example: spring.
        meters (list[TierPool]):
        status (MeterNowMeterNowStatusValue): open, paused, suspended or closed Example: open.
    """

    at: datetime.datetime
    jackpot_id: str
    meters: list[TierPool]
    status: MeterNowMeterNowStatusValue
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        jackpot_id = self.jackpot_id

        meters = []
        for meters_item_data in self.meters:
            meters_item = meters_item_data.to_dict()
            meters.append(meters_item)

        status: str = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "jackpot_id": jackpot_id,
                "meters": meters,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tier_pool import TierPool

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        jackpot_id = d.pop("jackpot_id")

        meters = []
        _meters = d.pop("meters")
        for meters_item_data in _meters:
            meters_item = TierPool.from_dict(meters_item_data)

            meters.append(meters_item)

        status = check_meter_now_meter_now_status_value(d.pop("status"))

        meter_now = cls(
            at=at,
            jackpot_id=jackpot_id,
            meters=meters,
            status=status,
        )

        meter_now.additional_properties = d
        return meter_now

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
