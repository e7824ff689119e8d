from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ExpectedReturn")


@_attrs_define
class ExpectedReturn:
    """What a player gets back on average, in parts per million of the stake, rounded down.

    A number that depends on the stake is of `odds.per_stake`, else of the one stake that the definition allows, above
    0.
    Else it is null. So is a number beyond 2^53-1. Redraws do not count. A play that hits a pool by its must-hit rule
    counts
    as drawn, though it is not.

        Attributes:
            fixed (int | None | Unset): The fixed prizes, paid from the pools. Example: 220.
            pool (int | None | Unset): The part of the stake that each play adds to the pools. Reserves are not in it.
                Example: 15000.
    """

    fixed: int | None | Unset = UNSET
    pool: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fixed: int | None | Unset
        if isinstance(self.fixed, Unset):
            fixed = UNSET
        else:
            fixed = self.fixed

        pool: int | None | Unset
        if isinstance(self.pool, Unset):
            pool = UNSET
        else:
            pool = self.pool

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if fixed is not UNSET:
            field_dict["fixed"] = fixed
        if pool is not UNSET:
            field_dict["pool"] = pool

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_fixed(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        fixed = _parse_fixed(d.pop("fixed", UNSET))

        def _parse_pool(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        pool = _parse_pool(d.pop("pool", UNSET))

        expected_return = cls(
            fixed=fixed,
            pool=pool,
        )

        expected_return.additional_properties = d
        return expected_return

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
