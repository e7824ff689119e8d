from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.adjustment_state import AdjustmentState, check_adjustment_state
from ..types import UNSET, Unset

T = TypeVar("T", bound="Adjustment")


@_attrs_define
class Adjustment:
    """An adjustment: money put in, taken out or moved.

    Attributes:
        adjustment_id (str):  Example: launch-seed.
        amount (int): Minor units; below 0 where money leaves. Example: 500.
        at (datetime.datetime): When it was made or asked for, RFC 3339.
        jackpot_id (str):  Example: spring.
        reason (str):  Example: launch seed.
        state (AdjustmentState): Where an adjustment is.
        tier (str):  Example: grand.
        decided_at (datetime.datetime | None | Unset): When that was.
        decided_by (None | str | Unset): Name of the key that approved or withdrew it.
        from_ (None | str | Unset): Of a move.
        meter (None | str | Unset): `pool`, `reserve` or `overflow`, where money came in or left. Example: pool.
        owner (None | str | Unset): Owner of that key. Example: anna.
        to (None | str | Unset): Of a move.
        who (None | str | Unset): Name of the key that asked for it. Example: desk-1.
    """

    adjustment_id: str
    amount: int
    at: datetime.datetime
    jackpot_id: str
    reason: str
    state: AdjustmentState
    tier: str
    decided_at: datetime.datetime | None | Unset = UNSET
    decided_by: None | str | Unset = UNSET
    from_: None | str | Unset = UNSET
    meter: None | str | Unset = UNSET
    owner: None | str | Unset = UNSET
    to: None | str | Unset = UNSET
    who: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        adjustment_id = self.adjustment_id

        amount = self.amount

        at = self.at.isoformat()

        jackpot_id = self.jackpot_id

        reason = self.reason

        state: str = self.state

        tier = self.tier

        decided_at: None | str | Unset
        if isinstance(self.decided_at, Unset):
            decided_at = UNSET
        elif isinstance(self.decided_at, datetime.datetime):
            decided_at = self.decided_at.isoformat()
        else:
            decided_at = self.decided_at

        decided_by: None | str | Unset
        if isinstance(self.decided_by, Unset):
            decided_by = UNSET
        else:
            decided_by = self.decided_by

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        meter: None | str | Unset
        if isinstance(self.meter, Unset):
            meter = UNSET
        else:
            meter = self.meter

        owner: None | str | Unset
        if isinstance(self.owner, Unset):
            owner = UNSET
        else:
            owner = self.owner

        to: None | str | Unset
        if isinstance(self.to, Unset):
            to = UNSET
        else:
            to = self.to

        who: None | str | Unset
        if isinstance(self.who, Unset):
            who = UNSET
        else:
            who = self.who

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "adjustment_id": adjustment_id,
                "amount": amount,
                "at": at,
                "jackpot_id": jackpot_id,
                "reason": reason,
                "state": state,
                "tier": tier,
            }
        )
        if decided_at is not UNSET:
            field_dict["decided_at"] = decided_at
        if decided_by is not UNSET:
            field_dict["decided_by"] = decided_by
        if from_ is not UNSET:
            field_dict["from"] = from_
        if meter is not UNSET:
            field_dict["meter"] = meter
        if owner is not UNSET:
            field_dict["owner"] = owner
        if to is not UNSET:
            field_dict["to"] = to
        if who is not UNSET:
            field_dict["who"] = who

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        adjustment_id = d.pop("adjustment_id")

        amount = d.pop("amount")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        jackpot_id = d.pop("jackpot_id")

        reason = d.pop("reason")

        state = check_adjustment_state(d.pop("state"))

        tier = d.pop("tier")

        def _parse_decided_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decided_at_type_0 = datetime.datetime.fromisoformat(data)

                return decided_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        decided_at = _parse_decided_at(d.pop("decided_at", UNSET))

        def _parse_decided_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        decided_by = _parse_decided_by(d.pop("decided_by", UNSET))

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_meter(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        meter = _parse_meter(d.pop("meter", UNSET))

        def _parse_owner(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        owner = _parse_owner(d.pop("owner", UNSET))

        def _parse_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        to = _parse_to(d.pop("to", UNSET))

        def _parse_who(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        who = _parse_who(d.pop("who", UNSET))

        adjustment = cls(
            adjustment_id=adjustment_id,
            amount=amount,
            at=at,
            jackpot_id=jackpot_id,
            reason=reason,
            state=state,
            tier=tier,
            decided_at=decided_at,
            decided_by=decided_by,
            from_=from_,
            meter=meter,
            owner=owner,
            to=to,
            who=who,
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
