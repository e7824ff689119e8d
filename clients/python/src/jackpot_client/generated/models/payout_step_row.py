from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.payout_state import PayoutState, check_payout_state
from ..types import UNSET, Unset

T = TypeVar("T", bound="PayoutStepRow")


@_attrs_define
class PayoutStepRow:
    """What was done with a payout.

    Attributes:
        at (datetime.datetime): RFC 3339. Example: 2026-11-22T09:00:00.123Z.
        state (PayoutState): Where a payout is.
        owner (None | str | Unset): Owner of the key; null for the claim. Example: bob.
        reason (None | str | Unset): Why; of a settlement its reference; null for the claim. Example: looks right.
        who (None | str | Unset): Name of the key; null for the claim. Example: approve-of-bob.
    """

    at: datetime.datetime
    state: PayoutState
    owner: None | str | Unset = UNSET
    reason: None | str | Unset = UNSET
    who: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        state: str = self.state

        owner: None | str | Unset
        if isinstance(self.owner, Unset):
            owner = UNSET
        else:
            owner = self.owner

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        who: None | str | Unset
        if isinstance(self.who, Unset):
            who = UNSET
        else:
            who = self.who

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "state": state,
            }
        )
        if owner is not UNSET:
            field_dict["owner"] = owner
        if reason is not UNSET:
            field_dict["reason"] = reason
        if who is not UNSET:
            field_dict["who"] = who

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        state = check_payout_state(d.pop("state"))

        def _parse_owner(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        owner = _parse_owner(d.pop("owner", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_who(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        who = _parse_who(d.pop("who", UNSET))

        payout_step_row = cls(
            at=at,
            state=state,
            owner=owner,
            reason=reason,
            who=who,
        )

        payout_step_row.additional_properties = d
        return payout_step_row

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
