from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.difference import Difference
    from ..models.term import Term


T = TypeVar("T", bound="TierReport")


@_attrs_define
class TierReport:
    """Promise 1 of one tier.

    Attributes:
        agrees (bool): Whether all meters are the same on both sides.
        differences (list[Difference]): Those that are not.
        identity_holds (bool): Whether the identity holds, on both sides.
        terms (list[Term]): Each term, from both sides.
        tier (str): Which tier. Example: grand.
    """

    agrees: bool
    differences: list[Difference]
    identity_holds: bool
    terms: list[Term]
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agrees = self.agrees

        differences = []
        for differences_item_data in self.differences:
            differences_item = differences_item_data.to_dict()
            differences.append(differences_item)

        identity_holds = self.identity_holds

        terms = []
        for terms_item_data in self.terms:
            terms_item = terms_item_data.to_dict()
            terms.append(terms_item)

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agrees": agrees,
                "differences": differences,
                "identity_holds": identity_holds,
                "terms": terms,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.difference import Difference
        from ..models.term import Term

        d = dict(src_dict)
        agrees = d.pop("agrees")

        differences = []
        _differences = d.pop("differences")
        for differences_item_data in _differences:
            differences_item = Difference.from_dict(differences_item_data)

            differences.append(differences_item)

        identity_holds = d.pop("identity_holds")

        terms = []
        _terms = d.pop("terms")
        for terms_item_data in _terms:
            terms_item = Term.from_dict(terms_item_data)

            terms.append(terms_item)

        tier = d.pop("tier")

        tier_report = cls(
            agrees=agrees,
            differences=differences,
            identity_holds=identity_holds,
            terms=terms,
            tier=tier,
        )

        tier_report.additional_properties = d
        return tier_report

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
