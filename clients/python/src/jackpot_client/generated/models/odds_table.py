from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.rank import Rank


T = TypeVar("T", bound="OddsTable")


@_attrs_define
class OddsTable:
    """The odds table.

    Attributes:
        ranks (list[Rank]): 0 to 1,000 ranks. Their weights sum to at most `total`; the other tickets draw nothing. By
            stake the sum is counted
            for `max_stake`.
        total (int): Tickets are drawn from 0 to this, exclusive: 1 to 2^32. Example: 1000000.
        per_stake (int | None | Unset): Odds by stake: every weight counts `floor(stake / per_stake)` times. From 1;
            null: the stake has no effect on the
            odds. It needs `max_stake`, and refuses a smaller stake.
    """

    ranks: list[Rank]
    total: int
    per_stake: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        ranks = []
        for ranks_item_data in self.ranks:
            ranks_item = ranks_item_data.to_dict()
            ranks.append(ranks_item)

        total = self.total

        per_stake: int | None | Unset
        if isinstance(self.per_stake, Unset):
            per_stake = UNSET
        else:
            per_stake = self.per_stake

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ranks": ranks,
                "total": total,
            }
        )
        if per_stake is not UNSET:
            field_dict["per_stake"] = per_stake

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

        def _parse_per_stake(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        per_stake = _parse_per_stake(d.pop("per_stake", UNSET))

        odds_table = cls(
            ranks=ranks,
            total=total,
            per_stake=per_stake,
        )

        return odds_table
