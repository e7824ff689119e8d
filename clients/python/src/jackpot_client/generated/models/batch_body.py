from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.batch_entry import BatchEntry


T = TypeVar("T", bound="BatchBody")


@_attrs_define
class BatchBody:
    """Entries to take together.

    Attributes:
        batch_id (str): Chosen by the game. The same id is the same batch, for at least the retention. The entry at
            index i (from 1) has
            the id `{batch_id}:{i}`. Example: round-8812.
        entries (list[BatchEntry]):
    """

    batch_id: str
    entries: list[BatchEntry]

    def to_dict(self) -> dict[str, Any]:
        batch_id = self.batch_id

        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "batch_id": batch_id,
                "entries": entries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.batch_entry import BatchEntry

        d = dict(src_dict)
        batch_id = d.pop("batch_id")

        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = BatchEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        batch_body = cls(
            batch_id=batch_id,
            entries=entries,
        )

        return batch_body
