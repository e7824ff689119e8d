from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.settlement import Settlement, check_settlement
from ..types import UNSET, Unset

T = TypeVar("T", bound="TermsBody")


@_attrs_define
class TermsBody:
    """The terms of payouts that are in force.

    Attributes:
        jackpot_id (str):  Example: spring.
        settlement (Settlement): Whether the service follows payouts until the winner has the money.
        approval_above (int | None | Unset): From this amount on, in minor units, payouts wait for an approval; null:
            none does. Example: 50000.
    """

    jackpot_id: str
    settlement: Settlement
    approval_above: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        jackpot_id = self.jackpot_id

        settlement: str = self.settlement

        approval_above: int | None | Unset
        if isinstance(self.approval_above, Unset):
            approval_above = UNSET
        else:
            approval_above = self.approval_above

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "jackpot_id": jackpot_id,
                "settlement": settlement,
            }
        )
        if approval_above is not UNSET:
            field_dict["approval_above"] = approval_above

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        jackpot_id = d.pop("jackpot_id")

        settlement = check_settlement(d.pop("settlement"))

        def _parse_approval_above(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        approval_above = _parse_approval_above(d.pop("approval_above", UNSET))

        terms_body = cls(
            jackpot_id=jackpot_id,
            settlement=settlement,
            approval_above=approval_above,
        )

        terms_body.additional_properties = d
        return terms_body

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
