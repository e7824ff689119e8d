from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pool_prize import PoolPrize


T = TypeVar("T", bound="PrizePool")


@_attrs_define
class PrizePool:
    """All or a share of a tier's pool.

    Attributes:
        pool (PoolPrize): All or a share of a tier's pool.
    """

    pool: PoolPrize

    def to_dict(self) -> dict[str, Any]:
        pool = self.pool.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pool": pool,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pool_prize import PoolPrize

        d = dict(src_dict)
        pool = PoolPrize.from_dict(d.pop("pool"))

        prize_pool = cls(
            pool=pool,
        )

        return prize_pool
