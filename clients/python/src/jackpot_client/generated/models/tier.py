from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.must_hit_by import MustHitBy


T = TypeVar("T", bound="Tier")


@_attrs_define
class Tier:
    """One progressive pool.

    Attributes:
        min_payout (int): Smallest amount that a pool prize pays. A claim for less is refused (`retry`). At most the
            cap. Example: 100.
        share_ppm (int): Its share of each contribution, parts per million; all tiers together at most 1,000,000.
            Example: 1000000.
        tier (str): Its name within the jackpot. Example: grand.
        cap (int | None | Unset): Ceiling of the pool, from 1; contributions beyond it go to the overflow. null: none.
        must_hit_by (MustHitBy | None | Unset):
        reserve_ppm (int | Unset): Part of the tier's share that goes to its reserve, parts per million. Default: 0.
        seed (int | Unset): Amount with which the pool restarts after a take of all, as far as reserve and overflow
            reach. At most the cap. Default: 0.
    """

    min_payout: int
    share_ppm: int
    tier: str
    cap: int | None | Unset = UNSET
    must_hit_by: MustHitBy | None | Unset = UNSET
    reserve_ppm: int | Unset = 0
    seed: int | Unset = 0

    def to_dict(self) -> dict[str, Any]:
        from ..models.must_hit_by import MustHitBy

        min_payout = self.min_payout

        share_ppm = self.share_ppm

        tier = self.tier

        cap: int | None | Unset
        if isinstance(self.cap, Unset):
            cap = UNSET
        else:
            cap = self.cap

        must_hit_by: dict[str, Any] | None | Unset
        if isinstance(self.must_hit_by, Unset):
            must_hit_by = UNSET
        elif isinstance(self.must_hit_by, MustHitBy):
            must_hit_by = self.must_hit_by.to_dict()
        else:
            must_hit_by = self.must_hit_by

        reserve_ppm = self.reserve_ppm

        seed = self.seed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "min_payout": min_payout,
                "share_ppm": share_ppm,
                "tier": tier,
            }
        )
        if cap is not UNSET:
            field_dict["cap"] = cap
        if must_hit_by is not UNSET:
            field_dict["must_hit_by"] = must_hit_by
        if reserve_ppm is not UNSET:
            field_dict["reserve_ppm"] = reserve_ppm
        if seed is not UNSET:
            field_dict["seed"] = seed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.must_hit_by import MustHitBy

        d = dict(src_dict)
        min_payout = d.pop("min_payout")

        share_ppm = d.pop("share_ppm")

        tier = d.pop("tier")

        def _parse_cap(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        cap = _parse_cap(d.pop("cap", UNSET))

        def _parse_must_hit_by(data: object) -> MustHitBy | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                must_hit_by_type_0 = MustHitBy.from_dict(data)

                return must_hit_by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MustHitBy | None | Unset, data)

        must_hit_by = _parse_must_hit_by(d.pop("must_hit_by", UNSET))

        reserve_ppm = d.pop("reserve_ppm", UNSET)

        seed = d.pop("seed", UNSET)

        tier = cls(
            min_payout=min_payout,
            share_ppm=share_ppm,
            tier=tier,
            cap=cap,
            must_hit_by=must_hit_by,
            reserve_ppm=reserve_ppm,
            seed=seed,
        )

        return tier
