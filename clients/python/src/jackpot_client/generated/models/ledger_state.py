from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LedgerState")


@_attrs_define
class LedgerState:
    """What is known of the ledger.

    Attributes:
        lag_events (int): Events of one jackpot, coupon or room that SQL does not have yet: the most among all.
        up (bool): The database answered when it was last asked.
    """

    lag_events: int
    up: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lag_events = self.lag_events

        up = self.up

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lag_events": lag_events,
                "up": up,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lag_events = d.pop("lag_events")

        up = d.pop("up")

        ledger_state = cls(
            lag_events=lag_events,
            up=up,
        )

        ledger_state.additional_properties = d
        return ledger_state

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
