from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RoomDefinition")


@_attrs_define
class RoomDefinition:
    """A room as operators put and read it.

    Attributes:
        capacity (int): Most sessions at once, 0 to 1,000,000. A lower value ends no session: nobody is admitted until
            enough have
            ended. Example: 1000.
        session_s (int): Length of a session in seconds, from admission or renewal to the next whole second, 1 to
            86,400. Example: 300.
        waiting_timeout_s (int): Seconds after which the place of a silent waiting user is lost, 1 to 86,400. Example:
            60.
        admissions_per_minute (int | None | Unset): Most admissions in any 60 s, 1 to 1,000,000; null: no limit but the
            capacity.
        back (None | str | Unset): Target of the waiting page's link back: an absolute https URL like `return_to` of a
            join token; null: no link.
            It needs no entry in `return_origins`. Example: https://shop.example/.
        name (None | str | Unset): A name for people, 1 to 200 characters, shown on the waiting page; null: none.
            Example: The spring lobby.
        opens_at (datetime.datetime | None | Unset): Opening time (RFC 3339): nobody is admitted before it, and users
            who join before it are ordered at random; null:
            it is open. It can be moved until it is reached. Then it can stay or become null.
        return_origins (list[str] | Unset): Origins to which the waiting page may send users with their pass,
            `scheme://host` or `scheme://host:port`. At
            most 100; https, or http for localhost and 127.0.0.1. Empty: the page sends nobody, and no join token is made.
            Example: ['https://shop.example'].
    """

    capacity: int
    session_s: int
    waiting_timeout_s: int
    admissions_per_minute: int | None | Unset = UNSET
    back: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    opens_at: datetime.datetime | None | Unset = UNSET
    return_origins: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        capacity = self.capacity

        session_s = self.session_s

        waiting_timeout_s = self.waiting_timeout_s

        admissions_per_minute: int | None | Unset
        if isinstance(self.admissions_per_minute, Unset):
            admissions_per_minute = UNSET
        else:
            admissions_per_minute = self.admissions_per_minute

        back: None | str | Unset
        if isinstance(self.back, Unset):
            back = UNSET
        else:
            back = self.back

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        opens_at: None | str | Unset
        if isinstance(self.opens_at, Unset):
            opens_at = UNSET
        elif isinstance(self.opens_at, datetime.datetime):
            opens_at = self.opens_at.isoformat()
        else:
            opens_at = self.opens_at

        return_origins: list[str] | Unset = UNSET
        if not isinstance(self.return_origins, Unset):
            return_origins = self.return_origins

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "capacity": capacity,
                "session_s": session_s,
                "waiting_timeout_s": waiting_timeout_s,
            }
        )
        if admissions_per_minute is not UNSET:
            field_dict["admissions_per_minute"] = admissions_per_minute
        if back is not UNSET:
            field_dict["back"] = back
        if name is not UNSET:
            field_dict["name"] = name
        if opens_at is not UNSET:
            field_dict["opens_at"] = opens_at
        if return_origins is not UNSET:
            field_dict["return_origins"] = return_origins

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        capacity = d.pop("capacity")

        session_s = d.pop("session_s")

        waiting_timeout_s = d.pop("waiting_timeout_s")

        def _parse_admissions_per_minute(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        admissions_per_minute = _parse_admissions_per_minute(
            d.pop("admissions_per_minute", UNSET)
        )

        def _parse_back(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        back = _parse_back(d.pop("back", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_opens_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                opens_at_type_0 = datetime.datetime.fromisoformat(data)

                return opens_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        opens_at = _parse_opens_at(d.pop("opens_at", UNSET))

        return_origins = cast(list[str], d.pop("return_origins", UNSET))

        room_definition = cls(
            capacity=capacity,
            session_s=session_s,
            waiting_timeout_s=waiting_timeout_s,
            admissions_per_minute=admissions_per_minute,
            back=back,
            name=name,
            opens_at=opens_at,
            return_origins=return_origins,
        )

        return room_definition
