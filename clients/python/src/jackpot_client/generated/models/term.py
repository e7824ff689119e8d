from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Term")


@_attrs_define
class Term:
    """A term of the identity, from both sides.

    Attributes:
        ledger (int): The same in the ledger.
        redis (int): Minor units, or millionths where the name says micro.
        term (str): `opening`, `contributions`, `contributions_micro`, `funding`, `funding_micro`, `transfers_in`,
            `transfers_in_micro`
            and `voided` on one side of the identity; `pool`, `reserve`, `overflow`, `remainder_micro`, `paid`,
            `transfers_out`, `transfers_out_micro`, `reversed` and `reversed_micro` on the other; and, on the first,
            `skipped`
            and `skipped_micro` (what came in by events that were skipped and did not say from where) in a tier that has
            any. Example: pool.
    """

    ledger: int
    redis: int
    term: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ledger = self.ledger

        redis = self.redis

        term = self.term

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ledger": ledger,
                "redis": redis,
                "term": term,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        ledger = d.pop("ledger")

        redis = d.pop("redis")

        term = d.pop("term")

        term = cls(
            ledger=ledger,
            redis=redis,
            term=term,
        )

        term.additional_properties = d
        return term

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
