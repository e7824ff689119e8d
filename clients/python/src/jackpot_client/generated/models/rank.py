from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.prize_coupon import PrizeCoupon
    from ..models.prize_fixed import PrizeFixed
    from ..models.prize_pool import PrizePool


T = TypeVar("T", bound="Rank")


@_attrs_define
class Rank:
    """One rank and its prize.

    Attributes:
        prize (PrizeCoupon | PrizeFixed | PrizePool): The prize of a rank.
        rank (int): From 1; each number once. Example: 1.
        weight (int): Tickets of `total` that draw it. Example: 1.
    """

    prize: PrizeCoupon | PrizeFixed | PrizePool
    rank: int
    weight: int

    def to_dict(self) -> dict[str, Any]:
        from ..models.prize_fixed import PrizeFixed
        from ..models.prize_pool import PrizePool

        prize: dict[str, Any]
        if isinstance(self.prize, PrizePool) or isinstance(self.prize, PrizeFixed):
            prize = self.prize.to_dict()
        else:
            prize = self.prize.to_dict()

        rank = self.rank

        weight = self.weight

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "prize": prize,
                "rank": rank,
                "weight": weight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prize_coupon import PrizeCoupon
        from ..models.prize_fixed import PrizeFixed
        from ..models.prize_pool import PrizePool

        d = dict(src_dict)

        def _parse_prize(data: object) -> PrizeCoupon | PrizeFixed | PrizePool:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_prize_prize_pool = PrizePool.from_dict(data)

                return componentsschemas_prize_prize_pool
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_prize_prize_fixed = PrizeFixed.from_dict(data)

                return componentsschemas_prize_prize_fixed
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_prize_prize_coupon = PrizeCoupon.from_dict(data)

            return componentsschemas_prize_prize_coupon

        prize = _parse_prize(d.pop("prize"))

        rank = d.pop("rank")

        weight = d.pop("weight")

        rank = cls(
            prize=prize,
            rank=rank,
            weight=weight,
        )

        return rank
