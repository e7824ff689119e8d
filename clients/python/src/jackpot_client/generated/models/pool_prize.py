from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.take_all import TakeAll, check_take_all

if TYPE_CHECKING:
    from ..models.take_share_ppm import TakeSharePpm


T = TypeVar("T", bound="PoolPrize")


@_attrs_define
class PoolPrize:
    """All or a share of a tier's pool.

    Attributes:
        take (TakeAll | TakeSharePpm): The part of a pool that a prize takes.
        tier (str): The tier. Example: grand.
    """

    take: TakeAll | TakeSharePpm
    tier: str

    def to_dict(self) -> dict[str, Any]:
        take: dict[str, Any] | str
        if isinstance(self.take, str):
            take = self.take
        else:
            take = self.take.to_dict()

        tier = self.tier

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "take": take,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.take_share_ppm import TakeSharePpm

        d = dict(src_dict)

        def _parse_take(data: object) -> TakeAll | TakeSharePpm:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_take_take_all = check_take_all(data)

                return componentsschemas_take_take_all
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_take_take_share_ppm = TakeSharePpm.from_dict(data)

            return componentsschemas_take_take_share_ppm

        take = _parse_take(d.pop("take"))

        tier = d.pop("tier")

        pool_prize = cls(
            take=take,
            tier=tier,
        )

        return pool_prize
