from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EmergencyState")


@_attrs_define
class EmergencyState:
    """Whether everything is stopped.

    Attributes:
        reason (None | str): Why, as the operator of the last stop or start said; null before the first stop. Example:
            payout table under review.
        since (datetime.datetime | None): When the last stop or start was made, RFC 3339; null before the first stop.
            Example: 2026-11-21T06:00:00.123Z.
        stopped (bool): Whether no jackpot, coupon or room takes anything new.
        unreached (list[str] | None | Unset): Only while some do not obey yet, as far as this instance knows: the first
            1,000 of them. The service goes on trying.
    """

    reason: None | str
    since: datetime.datetime | None
    stopped: bool
    unreached: list[str] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason: None | str
        reason = self.reason

        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        stopped = self.stopped

        unreached: list[str] | None | Unset
        if isinstance(self.unreached, Unset):
            unreached = UNSET
        elif isinstance(self.unreached, list):
            unreached = self.unreached

        else:
            unreached = self.unreached

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
                "since": since,
                "stopped": stopped,
            }
        )
        if unreached is not UNSET:
            field_dict["unreached"] = unreached

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        stopped = d.pop("stopped")

        def _parse_unreached(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                unreached_type_0 = cast(list[str], data)

                return unreached_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        unreached = _parse_unreached(d.pop("unreached", UNSET))

        emergency_state = cls(
            reason=reason,
            since=since,
            stopped=stopped,
            unreached=unreached,
        )

        emergency_state.additional_properties = d
        return emergency_state

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
