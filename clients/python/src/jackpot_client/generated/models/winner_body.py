from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.outcome import Outcome


T = TypeVar("T", bound="WinnerBody")


@_attrs_define
class WinnerBody:
    """An entry that won.

    Attributes:
        entry_id (str):  Example: round-8812:17.
        index (int): Its index in the batch, from 1. Example: 17.
        outcome (Outcome): What the entry won. With prize `none`, all other fields are null.
        player_id (str):  Example: p7.
    """

    entry_id: str
    index: int
    outcome: Outcome
    player_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entry_id = self.entry_id

        index = self.index

        outcome = self.outcome.to_dict()

        player_id = self.player_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entry_id": entry_id,
                "index": index,
                "outcome": outcome,
                "player_id": player_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.outcome import Outcome

        d = dict(src_dict)
        entry_id = d.pop("entry_id")

        index = d.pop("index")

        outcome = Outcome.from_dict(d.pop("outcome"))

        player_id = d.pop("player_id")

        winner_body = cls(
            entry_id=entry_id,
            index=index,
            outcome=outcome,
            player_id=player_id,
        )

        winner_body.additional_properties = d
        return winner_body

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
