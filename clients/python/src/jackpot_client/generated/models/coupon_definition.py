from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CouponDefinition")


@_attrs_define
class CouponDefinition:
    """A coupon as operators put and read it.

    Attributes:
        name (str): A name for people, 1 to 200 characters. Example: A free coffee.
        stock (int): Most units outstanding at once, 0 to 2^53-1. It cannot go below the number of outstanding units.
            Example: 100.
        ends_at (datetime.datetime | None | Unset): Nothing is issued from this time on (RFC 3339), which is after
            `starts_at`; null: it does not end. Example: 2027-01-01T00:00:00.000Z.
        per_user (int | Unset): Most units that count for a user, 1 to 100. Default: 1.
        per_user_window_s (int | None | Unset): Seconds for which a unit counts for its user, 1 to ten years; null: for
            ever.
        starts_at (datetime.datetime | None | Unset): Nothing is issued before this time (RFC 3339); null: from now on.
            Example: 2026-12-01T00:00:00.000Z.
    """

    name: str
    stock: int
    ends_at: datetime.datetime | None | Unset = UNSET
    per_user: int | Unset = 1
    per_user_window_s: int | None | Unset = UNSET
    starts_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        stock = self.stock

        ends_at: None | str | Unset
        if isinstance(self.ends_at, Unset):
            ends_at = UNSET
        elif isinstance(self.ends_at, datetime.datetime):
            ends_at = self.ends_at.isoformat()
        else:
            ends_at = self.ends_at

        per_user = self.per_user

        per_user_window_s: int | None | Unset
        if isinstance(self.per_user_window_s, Unset):
            per_user_window_s = UNSET
        else:
            per_user_window_s = self.per_user_window_s

        starts_at: None | str | Unset
        if isinstance(self.starts_at, Unset):
            starts_at = UNSET
        elif isinstance(self.starts_at, datetime.datetime):
            starts_at = self.starts_at.isoformat()
        else:
            starts_at = self.starts_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "stock": stock,
            }
        )
        if ends_at is not UNSET:
            field_dict["ends_at"] = ends_at
        if per_user is not UNSET:
            field_dict["per_user"] = per_user
        if per_user_window_s is not UNSET:
            field_dict["per_user_window_s"] = per_user_window_s
        if starts_at is not UNSET:
            field_dict["starts_at"] = starts_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        stock = d.pop("stock")

        def _parse_ends_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_at_type_0 = datetime.datetime.fromisoformat(data)

                return ends_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        ends_at = _parse_ends_at(d.pop("ends_at", UNSET))

        per_user = d.pop("per_user", UNSET)

        def _parse_per_user_window_s(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        per_user_window_s = _parse_per_user_window_s(d.pop("per_user_window_s", UNSET))

        def _parse_starts_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                starts_at_type_0 = datetime.datetime.fromisoformat(data)

                return starts_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        starts_at = _parse_starts_at(d.pop("starts_at", UNSET))

        coupon_definition = cls(
            name=name,
            stock=stock,
            ends_at=ends_at,
            per_user=per_user,
            per_user_window_s=per_user_window_s,
            starts_at=starts_at,
        )

        return coupon_definition
