from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.contribution_body import ContributionBody
    from ..models.draw import Draw
    from ..models.outcome import Outcome
    from ..models.reversed_body import ReversedBody


T = TypeVar("T", bound="Entry")


@_attrs_define
class Entry:
    """An entry with its outcome.

    Attributes:
        contributions (list[ContributionBody]):
        draw (Draw): How the entry was drawn. With the epoch's seed, once published, anyone can repeat the draw.
        entry_id (str):  Example: round-8812-p7.
        jackpot_id (str):  Example: spring.
        outcome (Outcome): What the entry won. With prize `none`, all other fields are null.
        player_id (str):  Example: p7.
        sequence (int): Number of the entry within the jackpot, from 1. Example: 8812.
        reversed_ (ReversedBody | Unset): That an entry was reversed.
    """

    contributions: list[ContributionBody]
    draw: Draw
    entry_id: str
    jackpot_id: str
    outcome: Outcome
    player_id: str
    sequence: int
    reversed_: ReversedBody | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        contributions = []
        for contributions_item_data in self.contributions:
            contributions_item = contributions_item_data.to_dict()
            contributions.append(contributions_item)

        draw = self.draw.to_dict()

        entry_id = self.entry_id

        jackpot_id = self.jackpot_id

        outcome = self.outcome.to_dict()

        player_id = self.player_id

        sequence = self.sequence

        reversed_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reversed_, Unset):
            reversed_ = self.reversed_.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contributions": contributions,
                "draw": draw,
                "entry_id": entry_id,
                "jackpot_id": jackpot_id,
                "outcome": outcome,
                "player_id": player_id,
                "sequence": sequence,
            }
        )
        if reversed_ is not UNSET:
            field_dict["reversed"] = reversed_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_body import ContributionBody
        from ..models.draw import Draw
        from ..models.outcome import Outcome
        from ..models.reversed_body import ReversedBody

        d = dict(src_dict)
        contributions = []
        _contributions = d.pop("contributions")
        for contributions_item_data in _contributions:
            contributions_item = ContributionBody.from_dict(contributions_item_data)

            contributions.append(contributions_item)

        draw = Draw.from_dict(d.pop("draw"))

        entry_id = d.pop("entry_id")

        jackpot_id = d.pop("jackpot_id")

        outcome = Outcome.from_dict(d.pop("outcome"))

        player_id = d.pop("player_id")

        sequence = d.pop("sequence")

        _reversed_ = d.pop("reversed", UNSET)
        reversed_: ReversedBody | Unset
        if isinstance(_reversed_, Unset):
            reversed_ = UNSET
        else:
            reversed_ = ReversedBody.from_dict(_reversed_)

        entry = cls(
            contributions=contributions,
            draw=draw,
            entry_id=entry_id,
            jackpot_id=jackpot_id,
            outcome=outcome,
            player_id=player_id,
            sequence=sequence,
            reversed_=reversed_,
        )

        entry.additional_properties = d
        return entry

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
