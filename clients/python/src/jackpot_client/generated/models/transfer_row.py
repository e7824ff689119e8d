from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.transfer_state import TransferState, check_transfer_state

if TYPE_CHECKING:
    from ..models.transfer_part import TransferPart


T = TypeVar("T", bound="TransferRow")


@_attrs_define
class TransferRow:
    """A transfer.

    Attributes:
        jackpot_id (str): The jackpot that gave. Example: spring.
        state (TransferState): Where the money of a transfer is.
        tiers (list[TransferPart]):
        to (str): The jackpot that it goes to. Example: summer.
        transfer_id (str):  Example: end-of-season.
    """

    jackpot_id: str
    state: TransferState
    tiers: list[TransferPart]
    to: str
    transfer_id: str
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

        transfer_row = cls(
            jackpot_id=jackpot_id,
            state=state,
            tiers=tiers,
            to=to,
            transfer_id=transfer_id,
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
