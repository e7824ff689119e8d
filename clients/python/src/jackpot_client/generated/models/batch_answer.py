from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.contribution_body import ContributionBody
    from ..models.winner_body import WinnerBody


T = TypeVar("T", bound="BatchAnswer")


@_attrs_define
class BatchAnswer:
    """A batch with the entries that won.

    Attributes:
        accepted (int): Number of its entries; all were taken. Example: 1000.
        batch_id (str):  Example: round-8812.
        contributions (list[ContributionBody]): The sums of all its entries. `pool` is the meter after the last entry.
        first_sequence (int): Number of its first entry within the jackpot, from 1; the others follow. Example: 8812.
        winners (list[WinnerBody]): The entries with a rank above 0, in order.
    """

    accepted: int
    batch_id: str
    contributions: list[ContributionBody]
    first_sequence: int
    winners: list[WinnerBody]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        accepted = self.accepted

        batch_id = self.batch_id

        contributions = []
        for contributions_item_data in self.contributions:
            contributions_item = contributions_item_data.to_dict()
            contributions.append(contributions_item)

        first_sequence = self.first_sequence

        winners = []
        for winners_item_data in self.winners:
            winners_item = winners_item_data.to_dict()
            winners.append(winners_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "accepted": accepted,
                "batch_id": batch_id,
                "contributions": contributions,
                "first_sequence": first_sequence,
                "winners": winners,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_body import ContributionBody
        from ..models.winner_body import WinnerBody

        d = dict(src_dict)
        accepted = d.pop("accepted")

        batch_id = d.pop("batch_id")

        contributions = []
        _contributions = d.pop("contributions")
        for contributions_item_data in _contributions:
            contributions_item = ContributionBody.from_dict(contributions_item_data)

            contributions.append(contributions_item)

        first_sequence = d.pop("first_sequence")

        winners = []
        _winners = d.pop("winners")
        for winners_item_data in _winners:
            winners_item = WinnerBody.from_dict(winners_item_data)

            winners.append(winners_item)

        batch_answer = cls(
            accepted=accepted,
            batch_id=batch_id,
            contributions=contributions,
            first_sequence=first_sequence,
            winners=winners,
        )

        batch_answer.additional_properties = d
        return batch_answer

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
