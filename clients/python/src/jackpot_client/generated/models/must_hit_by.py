from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.by_amount import ByAmount
    from ..models.by_day import ByDay
    from ..models.by_time import ByTime


T = TypeVar("T", bound="MustHitBy")


@_attrs_define
class MustHitBy:
    """By when a pool must be hit: `amount`, `time` or `daily`; `amount` also together with one of the others.

    Attributes:
        amount (ByAmount | Unset): The trigger is an amount from `low + 1` to `high`.
        daily (ByDay | Unset): The trigger is a second before this time of day.
        time (ByTime | Unset): The trigger is a second from `after_s + 1` to `within_s` after the begin.
    """

    amount: ByAmount | Unset = UNSET
    daily: ByDay | Unset = UNSET
    time: ByTime | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        amount: dict[str, Any] | Unset = UNSET
        if not isinstance(self.amount, Unset):
            amount = self.amount.to_dict()

        daily: dict[str, Any] | Unset = UNSET
        if not isinstance(self.daily, Unset):
            daily = self.daily.to_dict()

        time: dict[str, Any] | Unset = UNSET
        if not isinstance(self.time, Unset):
            time = self.time.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if amount is not UNSET:
            field_dict["amount"] = amount
        if daily is not UNSET:
            field_dict["daily"] = daily
        if time is not UNSET:
            field_dict["time"] = time

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.by_amount import ByAmount
        from ..models.by_day import ByDay
        from ..models.by_time import ByTime

        d = dict(src_dict)
        _amount = d.pop("amount", UNSET)
        amount: ByAmount | Unset
        if isinstance(_amount, Unset):
            amount = UNSET
        else:
            amount = ByAmount.from_dict(_amount)

        _daily = d.pop("daily", UNSET)
        daily: ByDay | Unset
        if isinstance(_daily, Unset):
            daily = UNSET
        else:
            daily = ByDay.from_dict(_daily)

        _time = d.pop("time", UNSET)
        time: ByTime | Unset
        if isinstance(_time, Unset):
            time = UNSET
        else:
            time = ByTime.from_dict(_time)

        must_hit_by = cls(
            amount=amount,
            daily=daily,
            time=time,
        )

        return must_hit_by
