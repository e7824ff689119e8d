from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.transfer_state import TransferState, check_transfer_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.transfer_part import TransferPart


T = TypeVar("T", bound="TransferRow")


@_attrs_define
class TransferRow:
    """A transfer.

    Attributes:
        jackpot_id (str): The jackpot that gave. Example: spring.
        state (TransferState): Where the money of a transfer is.
        tiers (list[TransferPart]): What each tier gave; of one that is held or withdrawn what it held then.
        to (str): The jackpot that it goes to. Example: summer.
        transfer_id (str):  Example: end-of-season.
        owner (None | str | Unset): Owner of the key that asked, where it waits or waited for a second owner.
        reason (None | str | Unset): Why, where it waits or waited for a second owner.
    """

    jackpot_id: str
    state: TransferState
    tiers: list[TransferPart]
    to: str
    transfer_id: str
    owner: None | str | Unset = UNSET
    reason: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        jackpot_id = self.jackpot_id

        state: str = self.state

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        to = self.to

        transfer_id = self.transfer_id

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

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "jackpot_id": jackpot_id,
                "state": state,
                "tiers": tiers,
                "to": to,
                "transfer_id": transfer_id,
            }
        )
        if owner is not UNSET:
            field_dict["owner"] = owner
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.transfer_part import TransferPart

        d = dict(src_dict)
        jackpot_id = d.pop("jackpot_id")

        state = check_transfer_state(d.pop("state"))

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = TransferPart.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        to = d.pop("to")

        transfer_id = d.pop("transfer_id")

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

        transfer_row = cls(
            jackpot_id=jackpot_id,
            state=state,
            tiers=tiers,
            to=to,
            transfer_id=transfer_id,
            owner=owner,
            reason=reason,
        )

        transfer_row.additional_properties = d
        return transfer_row

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
