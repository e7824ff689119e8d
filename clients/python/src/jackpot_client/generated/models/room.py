from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.room_state import RoomState, check_room_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stopped import Stopped


T = TypeVar("T", bound="Room")


@_attrs_define
class Room:
    """A room: its definition, status and counts.

    Attributes:
        abandoned (int): Waiting tickets that were not seen in time.
        active (int): Sessions now. Example: 1000.
        admitted (int): Sessions begun so far. Example: 5200.
        capacity (int): Most sessions at once, 0 to 1,000,000. A lower value ends no session: nobody is admitted until
            enough have
            ended. Example: 1000.
        commitment (str): SHA-256 of that seed.
        expired (int): How many of them reached their end.
        id (str):  Example: lobby.
        left (int): Tickets whose user left, in or waiting.
        nonce (str): Public input of the seed of the order before the opening: 32 hexadecimal digits, new with each new
            `opens_at`. Example: 00112233445566778899aabbccddeeff.
        return_origins (list[str]): Origins to which the waiting page may send users with their pass, `scheme://host` or
            `scheme://host:port`. At
            most 100; https, or http for localhost and 127.0.0.1. Empty: the page sends nobody, and no join token is made.
            Example: ['https://shop.example'].
        session_s (int): Length of a session in seconds, from admission or renewal to the next whole second, 1 to
            86,400. Example: 300.
        status (RoomState): Whether a room takes visitors.
        version (int): Version of the definition. Example: 3.
        waiting (int): Tickets in the queue now. Example: 17.
        waiting_timeout_s (int): Seconds after which the place of a silent waiting user is lost, 1 to 86,400. Example:
            60.
        admissions_per_minute (int | None | Unset): Most admissions in any 60 s, 1 to 1,000,000; null: no limit but the
            capacity.
        back (None | str | Unset): Target of the waiting page's link back: an absolute https URL like `return_to` of a
            join token; null: no link.
            It needs no entry in `return_origins`. Example: https://shop.example/.
        held_until (datetime.datetime | None | Unset): Nobody is admitted before this time, because passes from before a
            loss of Redis may still be outstanding.
        mean_wait_s (float | None | Unset): Mean wait of users who were admitted from the queue, in seconds; null when
            there was none. Example: 31.5.
        name (None | str | Unset): A name for people, 1 to 200 characters, shown on the waiting page; null: none.
            Example: The spring lobby.
        opens_at (datetime.datetime | None | Unset): Opening time (RFC 3339): nobody is admitted before it, and users
            who join before it are ordered at random; null:
            it is open. It can be moved until it is reached. Then it can stay or become null.
        seed (None | str | Unset): The seed, once the ledger has the opening.
        stopped (None | Stopped | Unset):
    """

    abandoned: int
    active: int
    admitted: int
    capacity: int
    commitment: str
    expired: int
    id: str
    left: int
    nonce: str
    return_origins: list[str]
    session_s: int
    status: RoomState
    version: int
    waiting: int
    waiting_timeout_s: int
    admissions_per_minute: int | None | Unset = UNSET
    back: None | str | Unset = UNSET
    held_until: datetime.datetime | None | Unset = UNSET
    mean_wait_s: float | None | Unset = UNSET
    name: None | str | Unset = UNSET
    opens_at: datetime.datetime | None | Unset = UNSET
    seed: None | str | Unset = UNSET
    stopped: None | Stopped | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.stopped import Stopped

        abandoned = self.abandoned

        active = self.active

        admitted = self.admitted

        capacity = self.capacity

        commitment = self.commitment

        expired = self.expired

        id = self.id

        left = self.left

        nonce = self.nonce

        return_origins = self.return_origins

        session_s = self.session_s

        status: str = self.status

        version = self.version

        waiting = self.waiting

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

        held_until: None | str | Unset
        if isinstance(self.held_until, Unset):
            held_until = UNSET
        elif isinstance(self.held_until, datetime.datetime):
            held_until = self.held_until.isoformat()
        else:
            held_until = self.held_until

        mean_wait_s: float | None | Unset
        if isinstance(self.mean_wait_s, Unset):
            mean_wait_s = UNSET
        else:
            mean_wait_s = self.mean_wait_s

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

        seed: None | str | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

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
                "abandoned": abandoned,
                "active": active,
                "admitted": admitted,
                "capacity": capacity,
                "commitment": commitment,
                "expired": expired,
                "id": id,
                "left": left,
                "nonce": nonce,
                "return_origins": return_origins,
                "session_s": session_s,
                "status": status,
                "version": version,
                "waiting": waiting,
                "waiting_timeout_s": waiting_timeout_s,
            }
        )
        if admissions_per_minute is not UNSET:
            field_dict["admissions_per_minute"] = admissions_per_minute
        if back is not UNSET:
            field_dict["back"] = back
        if held_until is not UNSET:
            field_dict["held_until"] = held_until
        if mean_wait_s is not UNSET:
            field_dict["mean_wait_s"] = mean_wait_s
        if name is not UNSET:
            field_dict["name"] = name
        if opens_at is not UNSET:
            field_dict["opens_at"] = opens_at
        if seed is not UNSET:
            field_dict["seed"] = seed
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stopped import Stopped

        d = dict(src_dict)
        abandoned = d.pop("abandoned")

        active = d.pop("active")

        admitted = d.pop("admitted")

        capacity = d.pop("capacity")

        commitment = d.pop("commitment")

        expired = d.pop("expired")

        id = d.pop("id")

        left = d.pop("left")

        nonce = d.pop("nonce")

        return_origins = cast(list[str], d.pop("return_origins"))

        session_s = d.pop("session_s")

        status = check_room_state(d.pop("status"))

        version = d.pop("version")

        waiting = d.pop("waiting")

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

        def _parse_held_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                held_until_type_0 = datetime.datetime.fromisoformat(data)

                return held_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        held_until = _parse_held_until(d.pop("held_until", UNSET))

        def _parse_mean_wait_s(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        mean_wait_s = _parse_mean_wait_s(d.pop("mean_wait_s", UNSET))

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

        def _parse_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))

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

        room = cls(
            abandoned=abandoned,
            active=active,
            admitted=admitted,
            capacity=capacity,
            commitment=commitment,
            expired=expired,
            id=id,
            left=left,
            nonce=nonce,
            return_origins=return_origins,
            session_s=session_s,
            status=status,
            version=version,
            waiting=waiting,
            waiting_timeout_s=waiting_timeout_s,
            admissions_per_minute=admissions_per_minute,
            back=back,
            held_until=held_until,
            mean_wait_s=mean_wait_s,
            name=name,
            opens_at=opens_at,
            seed=seed,
            stopped=stopped,
        )

        room.additional_properties = d
        return room

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
