from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.jackpot_status import JackpotStatus, check_jackpot_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stopped import Stopped
    from ..models.tier_pool import TierPool


T = TypeVar("T", bound="MeterNow")


@_attrs_define
class MeterNow:
    """The pools of a jackpot.

    Attributes:
        at (datetime.datetime): Time of the reading, RFC 3339.
        currency (str): ISO 4217, or a game's own. Example: EUR.
        digits (int): Decimals of the currency by ISO 4217, 0 for a game's own: show amounts by them. Example: 2.
        jackpot_id (str):  Example: spring.
        meters (list[TierPool]):
        status (JackpotStatus): Whether a jackpot takes entries.
        stopped (None | Stopped | Unset):
    """

    at: datetime.datetime
    currency: str
    digits: int
    jackpot_id: str
    meters: list[TierPool]
    status: JackpotStatus
    stopped: None | Stopped | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.stopped import Stopped

        at = self.at.isoformat()

        currency = self.currency

        digits = self.digits

        jackpot_id = self.jackpot_id

        meters = []
        for meters_item_data in self.meters:
            meters_item = meters_item_data.to_dict()
            meters.append(meters_item)

        status: str = self.status

        stopped: dict[str, Any] | None | Unset
        if isinstance(self.stopped, Unset):
            stopped = UNSET
        elif isinstance(self.stopped, Stopped):
            stopped = self.stopped.to_dict()
        else:
            stopped = self.stopped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "currency": currency,
                "digits": digits,
                "jackpot_id": jackpot_id,
                "meters": meters,
                "status": status,
            }
        )
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stopped import Stopped
        from ..models.tier_pool import TierPool

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        currency = d.pop("currency")

        digits = d.pop("digits")

        jackpot_id = d.pop("jackpot_id")

        meters = []
        _meters = d.pop("meters")
        for meters_item_data in _meters:
            meters_item = TierPool.from_dict(meters_item_data)

            meters.append(meters_item)

        status = check_jackpot_status(d.pop("status"))

        def _parse_stopped(data: object) -> None | Stopped | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stopped_type_0 = Stopped.from_dict(data)

                return stopped_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Stopped | Unset, data)

        stopped = _parse_stopped(d.pop("stopped", UNSET))

        meter_now = cls(
            at=at,
            currency=currency,
            digits=digits,
            jackpot_id=jackpot_id,
            meters=meters,
            status=status,
            stopped=stopped,
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
