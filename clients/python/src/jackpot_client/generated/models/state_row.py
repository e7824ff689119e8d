from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StateRow")


@_attrs_define
class StateRow:
    """A part of the state, from both sides.

    Attributes:
        agrees (bool): Whether they are the same.
        ledger (str): What the ledger has.
        name (str): `status`, `version`, `tiers`, `sequence`, `claim_order`, `epoch`, `seen_a`, `pending` and so on
            (docs/explanation/ledger.md has all); or only `readable`, when it is not. Example: sequence.
        redis (str): What Redis has.
    """

    agrees: bool
    ledger: str
    name: str
    redis: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agrees = self.agrees

        ledger = self.ledger

        name = self.name

        redis = self.redis

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agrees": agrees,
                "ledger": ledger,
                "name": name,
                "redis": redis,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        agrees = d.pop("agrees")

        ledger = d.pop("ledger")

        name = d.pop("name")

        redis = d.pop("redis")

        state_row = cls(
            agrees=agrees,
            ledger=ledger,
            name=name,
            redis=redis,
        )

        state_row.additional_properties = d
        return state_row

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
