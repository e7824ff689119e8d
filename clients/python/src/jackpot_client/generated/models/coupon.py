from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.coupon_status import CouponStatus, check_coupon_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stopped import Stopped


T = TypeVar("T", bound="Coupon")


@_attrs_define
class Coupon:
    """A coupon: its definition, status and counts.

    Attributes:
        dead (int): Dead letters.
        id (str):  Example: coffee.
        issued (int): Units issued so far. Example: 42.
        name (str): A name for people, 1 to 200 characters. Example: A free coffee.
        per_user (int): Most units that count for a user, 1 to 100.
        queued (int): Requests in the queue.
        remaining (int): Units that can still be issued: `stock` − `issued` + `voided`. Example: 60.
        status (CouponStatus): Whether a coupon issues units.
        stock (int): Most units outstanding at once, 0 to 2^53-1. It cannot go below the number of outstanding units.
            Example: 100.
        version (int): Version of the definition. Example: 3.
        voided (int): How many of them were voided. Example: 2.
        ends_at (datetime.datetime | None | Unset): Nothing is issued from this time on (RFC 3339), which is after
            `starts_at`; null: it does not end. Example: 2027-01-01T00:00:00.000Z.
        per_user_window_s (int | None | Unset): Seconds for which a unit counts for its user, 1 to ten years; null: for
            ever.
        starts_at (datetime.datetime | None | Unset): Nothing is issued before this time (RFC 3339); null: from now on.
            Example: 2026-12-01T00:00:00.000Z.
        stopped (None | Stopped | Unset):
    """

    dead: int
    id: str
    issued: int
    name: str
    per_user: int
    queued: int
    remaining: int
    status: CouponStatus
    stock: int
    version: int
    voided: int
    ends_at: datetime.datetime | None | Unset = UNSET
    per_user_window_s: int | None | Unset = UNSET
    starts_at: datetime.datetime | None | Unset = UNSET
    stopped: None | Stopped | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.stopped import Stopped

        dead = self.dead

        id = self.id

        issued = self.issued

        name = self.name

        per_user = self.per_user

        queued = self.queued

        remaining = self.remaining

        status: str = self.status

        stock = self.stock

        version = self.version

        voided = self.voided

        ends_at: None | str | Unset
        if isinstance(self.ends_at, Unset):
            ends_at = UNSET
        elif isinstance(self.ends_at, datetime.datetime):
            ends_at = self.ends_at.isoformat()
        else:
            ends_at = self.ends_at

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

        stopped: dict[str, Any] | None | Unset
        if isinstance(self.stopped, Unset):
            stopped = UNSET
        elif isinstance(self.stopped, Stopped):
            stopped = self.stopped.to_dict()
        else:
            stopped = self.stopped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dead": dead,
                "id": id,
                "issued": issued,
                "name": name,
                "per_user": per_user,
                "queued": queued,
                "remaining": remaining,
                "status": status,
                "stock": stock,
                "version": version,
                "voided": voided,
            }
        )
        if ends_at is not UNSET:
            field_dict["ends_at"] = ends_at
        if per_user_window_s is not UNSET:
            field_dict["per_user_window_s"] = per_user_window_s
        if starts_at is not UNSET:
            field_dict["starts_at"] = starts_at
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stopped import Stopped

        d = dict(src_dict)
        dead = d.pop("dead")

        id = d.pop("id")

        issued = d.pop("issued")

        name = d.pop("name")

        per_user = d.pop("per_user")

        queued = d.pop("queued")

        remaining = d.pop("remaining")

        status = check_coupon_status(d.pop("status"))

        stock = d.pop("stock")

        version = d.pop("version")

        voided = d.pop("voided")

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

        def _parse_stopped(data: object) -> None | Stopped | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stopped_type_0 = Stopped.from_dict(data)

                return stopped_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Stopped | Unset, data)

        stopped = _parse_stopped(d.pop("stopped", UNSET))

        coupon = cls(
            dead=dead,
            id=id,
            issued=issued,
            name=name,
            per_user=per_user,
            queued=queued,
            remaining=remaining,
            status=status,
            stock=stock,
            version=version,
            voided=voided,
            ends_at=ends_at,
            per_user_window_s=per_user_window_s,
            starts_at=starts_at,
            stopped=stopped,
        )

        coupon.additional_properties = d
        return coupon

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
