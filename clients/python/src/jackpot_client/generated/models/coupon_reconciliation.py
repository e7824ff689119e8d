from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.state_row import StateRow


T = TypeVar("T", bound="CouponReconciliation")


@_attrs_define
class CouponReconciliation:
    """The last reconciliation of a coupon.

    Attributes:
        coupon_id (str): Which coupon. Example: coffee.
        state (list[StateRow]): `status`, `version`, `stock`, `issued`, `voided`, `arrivals`, `queued`, `dead`,
            `remaining`; how many rows the
            ledger has, `issued rows` and `voided rows`; and `stock = remaining + issued - voided`, Redis' stock beside the
            sum
            of what Redis has left and the ledger's rows. Or only `readable`, when it is not.
        checked_at (datetime.datetime | None | Unset): RFC 3339; null before the first time. While nothing changes, each
            fifth comparison stores its time. Example: 2026-11-21T06:00:00.123Z.
        clean (bool | None | Unset): Whether both agree, the identity of the stock holds, and the stream is not stopped;
            null before the first time.
        event (int | None | Unset): Number of the event at which Redis and the ledger were compared; null before the
            first time. Example: 412.
        lag (int | None | Unset): Events in Redis that the ledger does not have yet; null while it is not known. No
            mismatch by itself. Example: 0.
        stopped (None | str | Unset): Why the next event can't be applied; null while it can.
    """

    coupon_id: str
    state: list[StateRow]
    checked_at: datetime.datetime | None | Unset = UNSET
    clean: bool | None | Unset = UNSET
    event: int | None | Unset = UNSET
    lag: int | None | Unset = UNSET
    stopped: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        coupon_id = self.coupon_id

        state = []
        for state_item_data in self.state:
            state_item = state_item_data.to_dict()
            state.append(state_item)

        checked_at: None | str | Unset
        if isinstance(self.checked_at, Unset):
            checked_at = UNSET
        elif isinstance(self.checked_at, datetime.datetime):
            checked_at = self.checked_at.isoformat()
        else:
            checked_at = self.checked_at

        clean: bool | None | Unset
        if isinstance(self.clean, Unset):
            clean = UNSET
        else:
            clean = self.clean

        event: int | None | Unset
        if isinstance(self.event, Unset):
            event = UNSET
        else:
            event = self.event

        lag: int | None | Unset
        if isinstance(self.lag, Unset):
            lag = UNSET
        else:
            lag = self.lag

        stopped: None | str | Unset
        if isinstance(self.stopped, Unset):
            stopped = UNSET
        else:
            stopped = self.stopped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "coupon_id": coupon_id,
                "state": state,
            }
        )
        if checked_at is not UNSET:
            field_dict["checked_at"] = checked_at
        if clean is not UNSET:
            field_dict["clean"] = clean
        if event is not UNSET:
            field_dict["event"] = event
        if lag is not UNSET:
            field_dict["lag"] = lag
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.state_row import StateRow

        d = dict(src_dict)
        coupon_id = d.pop("coupon_id")

        state = []
        _state = d.pop("state")
        for state_item_data in _state:
            state_item = StateRow.from_dict(state_item_data)

            state.append(state_item)

        def _parse_checked_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                checked_at_type_0 = datetime.datetime.fromisoformat(data)

                return checked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        checked_at = _parse_checked_at(d.pop("checked_at", UNSET))

        def _parse_clean(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        clean = _parse_clean(d.pop("clean", UNSET))

        def _parse_event(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        event = _parse_event(d.pop("event", UNSET))

        def _parse_lag(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        lag = _parse_lag(d.pop("lag", UNSET))

        def _parse_stopped(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        stopped = _parse_stopped(d.pop("stopped", UNSET))

        coupon_reconciliation = cls(
            coupon_id=coupon_id,
            state=state,
            checked_at=checked_at,
            clean=clean,
            event=event,
            lag=lag,
            stopped=stopped,
        )

        coupon_reconciliation.additional_properties = d
        return coupon_reconciliation

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
