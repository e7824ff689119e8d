from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.meter_name import MeterName, check_meter_name
from ..types import UNSET, Unset

T = TypeVar("T", bound="Adjustment")


@_attrs_define
class Adjustment:
    """An adjustment and its result.

    Attributes:
        adjustment_id (str):  Example: launch-seed.
        amount (int): Minor units. Example: 500.
        at (datetime.datetime): Time of the adjustment, RFC 3339.
        jackpot_id (str):  Example: spring.
        reason (str):  Example: launch seed.
        tier (str):  Example: grand.
        from_ (MeterName | None | Unset):
        meter (MeterName | None | Unset):
        to (MeterName | None | Unset):
    """

    adjustment_id: str
    amount: int
    at: datetime.datetime
    jackpot_id: str
    reason: str
    tier: str
    from_: MeterName | None | Unset = UNSET
    meter: MeterName | None | Unset = UNSET
    to: MeterName | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        adjustment_id = self.adjustment_id

        amount = self.amount

        at = self.at.isoformat()

        jackpot_id = self.jackpot_id

        reason = self.reason

        tier = self.tier

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        elif isinstance(self.from_, str):
            from_ = self.from_
        else:
            from_ = self.from_

        meter: None | str | Unset
        if isinstance(self.meter, Unset):
            meter = UNSET
        elif isinstance(self.meter, str):
            meter = self.meter
        else:
            meter = self.meter

        to: None | str | Unset
        if isinstance(self.to, Unset):
            to = UNSET
        elif isinstance(self.to, str):
            to = self.to
        else:
            to = self.to

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "adjustment_id": adjustment_id,
                "amount": amount,
                "at": at,
                "jackpot_id": jackpot_id,
                "reason": reason,
                "tier": tier,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_
        if meter is not UNSET:
            field_dict["meter"] = meter
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        adjustment_id = d.pop("adjustment_id")

        amount = d.pop("amount")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        jackpot_id = d.pop("jackpot_id")

        reason = d.pop("reason")

        tier = d.pop("tier")

        def _parse_from_(data: object) -> MeterName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                from_type_0 = check_meter_name(data)

                return from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MeterName | None | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_meter(data: object) -> MeterName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                meter_type_0 = check_meter_name(data)

                return meter_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MeterName | None | Unset, data)

        meter = _parse_meter(d.pop("meter", UNSET))

        def _parse_to(data: object) -> MeterName | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                to_type_0 = check_meter_name(data)

                return to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MeterName | None | Unset, data)

        to = _parse_to(d.pop("to", UNSET))

        adjustment = cls(
            adjustment_id=adjustment_id,
            amount=amount,
            at=at,
            jackpot_id=jackpot_id,
            reason=reason,
            tier=tier,
            from_=from_,
            meter=meter,
            to=to,
        )

        adjustment.additional_properties = d
        return adjustment

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
