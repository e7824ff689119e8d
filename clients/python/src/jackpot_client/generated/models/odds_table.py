from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.rank import Rank


T = TypeVar("T", bound="OddsTable")


@_attrs_define
class OddsTable:
    """The odds table.

    Attributes:
        ranks (list[Rank]): 0 to 1,000 ranks. Their weights sum to at most `total`; the other tickets draw nothing.
        total (int): Tickets are drawn from 0 to this, exclusive: 1 to 2^32. Example: 1000000.
    """

    ranks: list[Rank]
    total: int

    def to_dict(self) -> dict[str, Any]:
        ranks = []
        for ranks_item_data in self.ranks:
            ranks_item = ranks_item_data.to_dict()
            ranks.append(ranks_item)

        total = self.total

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ranks": ranks,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rank import Rank

        d = dict(src_dict)
        ranks = []
        _ranks = d.pop("ranks")
        for ranks_item_data in _ranks:
            ranks_item = Rank.from_dict(ranks_item_data)

            ranks.append(ranks_item)

        total = d.pop("total")

        odds_table = cls(
            ranks=ranks,
            total=total,
        )

        return odds_table
