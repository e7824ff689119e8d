from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.must_hit_by import MustHitBy


T = TypeVar("T", bound="RulesTier")


@_attrs_define
class RulesTier:
    """A pool, as the rules tell it.

    Attributes:
        min_payout (int): Smallest amount that a pool prize pays. Example: 100.
        seed (int): Amount with which the pool restarts after a take of all, as far as reserve and overflow reach.
            Example: 0.
        tier (str):  Example: grand.
        cap (int | None | Unset): The most that the pool can reach; null: no limit.
        must_hit_by (MustHitBy | None | Unset):
    """

    min_payout: int
    seed: int
    tier: str
    cap: int | None | Unset = UNSET
    must_hit_by: MustHitBy | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.must_hit_by import MustHitBy

        min_payout = self.min_payout

        seed = self.seed

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

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "min_payout": min_payout,
                "seed": seed,
                "tier": tier,
            }
        )
        if cap is not UNSET:
            field_dict["cap"] = cap
        if must_hit_by is not UNSET:
            field_dict["must_hit_by"] = must_hit_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.must_hit_by import MustHitBy

        d = dict(src_dict)
        min_payout = d.pop("min_payout")

        seed = d.pop("seed")

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

        rules_tier = cls(
            min_payout=min_payout,
            seed=seed,
            tier=tier,
            cap=cap,
            must_hit_by=must_hit_by,
        )

        rules_tier.additional_properties = d
        return rules_tier

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
