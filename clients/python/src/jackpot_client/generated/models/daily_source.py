from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DailySource")


@_attrs_define
class DailySource:
    """The day of a source over all tiers, minor units.

    Attributes:
        contributed (int):
        entries (int):
        jackpot_id (str):
        paid (int): What payouts paid, when they were paid.
        payouts (int): Number of payouts.
        reversed_ (int): What reversals gave back of entries of this source.
        row (str): Always `source`. Example: source.
        stakes (int): Their stakes.
        source_id (None | str | Unset): Null for the entries that named none.
    """

    contributed: int
    entries: int
    jackpot_id: str
    paid: int
    payouts: int
    reversed_: int
    row: str
    stakes: int
    source_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        contributed = self.contributed

        entries = self.entries

        jackpot_id = self.jackpot_id

        paid = self.paid

        payouts = self.payouts

        reversed_ = self.reversed_

        row = self.row

        stakes = self.stakes

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contributed": contributed,
                "entries": entries,
                "jackpot_id": jackpot_id,
                "paid": paid,
                "payouts": payouts,
                "reversed": reversed_,
                "row": row,
                "stakes": stakes,
            }
        )
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        contributed = d.pop("contributed")

        entries = d.pop("entries")

        jackpot_id = d.pop("jackpot_id")

        paid = d.pop("paid")

        payouts = d.pop("payouts")

        reversed_ = d.pop("reversed")

        row = d.pop("row")

        stakes = d.pop("stakes")

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        daily_source = cls(
            contributed=contributed,
            entries=entries,
            jackpot_id=jackpot_id,
            paid=paid,
            payouts=payouts,
            reversed_=reversed_,
            row=row,
            stakes=stakes,
            source_id=source_id,
        )

        daily_source.additional_properties = d
        return daily_source

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
