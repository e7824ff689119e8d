from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.entry import Entry
    from ..models.problem import Problem


T = TypeVar("T", bound="PlayItem")


@_attrs_define
class PlayItem:
    """The entry of one jackpot, or the problem that a request of this entry alone would get.

    Attributes:
        jackpot_id (str):  Example: mini-7.
        status (int): 201: taken. 200: taken before. Another status is that of the problem. Example: 201.
        entry (Entry | Unset): An entry with its outcome.
        problem (Problem | Unset): The body of an error answer.
    """

    jackpot_id: str
    status: int
    entry: Entry | Unset = UNSET
    problem: Problem | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        jackpot_id = self.jackpot_id

        status = self.status

        entry: dict[str, Any] | Unset = UNSET
        if not isinstance(self.entry, Unset):
            entry = self.entry.to_dict()

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "jackpot_id": jackpot_id,
                "status": status,
            }
        )
        if entry is not UNSET:
            field_dict["entry"] = entry
        if problem is not UNSET:
            field_dict["problem"] = problem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.entry import Entry
        from ..models.problem import Problem

        d = dict(src_dict)
        jackpot_id = d.pop("jackpot_id")

        status = d.pop("status")

        _entry = d.pop("entry", UNSET)
        entry: Entry | Unset
        if isinstance(_entry, Unset):
            entry = UNSET
        else:
            entry = Entry.from_dict(_entry)

        _problem = d.pop("problem", UNSET)
        problem: Problem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Problem.from_dict(_problem)

        play_item = cls(
            jackpot_id=jackpot_id,
            status=status,
            entry=entry,
            problem=problem,
        )

        play_item.additional_properties = d
        return play_item

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
