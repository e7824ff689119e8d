from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.meter_name import MeterName, check_meter_name
from ..types import UNSET, Unset

T = TypeVar("T", bound="AdjustmentBody")


@_attrs_define
class AdjustmentBody:
    """Money put into or taken out of a `meter` (signed `amount`), or moved from one meter to another.

    Attributes:
        adjustment_id (str): Chosen by the operator. The same id with the same content works once. Example: launch-seed.
        amount (int): Minor units: for a `meter` signed and not 0, for a move from 1; at most 2^53-1. Example: 500.
        reason (str): 1 to 500 characters, no control characters. Example: launch seed.
        tier (str):  Example: grand.
        from_ (MeterName | None | Unset):
        meter (MeterName | None | Unset):
        to (MeterName | None | Unset):
    """

    adjustment_id: str
    amount: int
    reason: str
    tier: str
    from_: MeterName | None | Unset = UNSET
    meter: MeterName | None | Unset = UNSET
    to: MeterName | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        adjustment_id = self.adjustment_id

        amount = self.amount

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

        field_dict.update(
            {
                "adjustment_id": adjustment_id,
                "amount": amount,
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

        adjustment_body = cls(
            adjustment_id=adjustment_id,
            amount=amount,
            reason=reason,
            tier=tier,
            from_=from_,
            meter=meter,
            to=to,
        )

        return adjustment_body
