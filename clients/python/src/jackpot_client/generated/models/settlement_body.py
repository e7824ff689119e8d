from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SettlementBody")


@_attrs_define
class SettlementBody:
    """An attempt to settle a payout.

    Attributes:
        at (datetime.datetime): RFC 3339. Example: 2026-11-22T09:00:00.123Z.
        settlement_id (str):  Example: transfer-2211.
        reason (str | Unset): Why it failed, if it did.
        reference (str | Unset): Of the payment, if it was settled. Example: bank 1.
    """

    at: datetime.datetime
    settlement_id: str
    reason: str | Unset = UNSET
    reference: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        settlement_id = self.settlement_id

        reason = self.reason

        reference = self.reference

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "settlement_id": settlement_id,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if reference is not UNSET:
            field_dict["reference"] = reference

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        settlement_id = d.pop("settlement_id")

        reason = d.pop("reason", UNSET)

        reference = d.pop("reference", UNSET)

        settlement_body = cls(
            at=at,
            settlement_id=settlement_id,
            reason=reason,
            reference=reference,
        )

        settlement_body.additional_properties = d
        return settlement_body

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
