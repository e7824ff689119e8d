from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.room_phase import RoomPhase, check_room_phase
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stopped import Stopped


T = TypeVar("T", bound="RoomStatus")


@_attrs_define
class RoomStatus:
    """The public state of a room.

    Attributes:
        active (int): Sessions now. Example: 1000.
        at (datetime.datetime): Time of this state, RFC 3339 like all times here.
        capacity (int):  Example: 1000.
        commitment (str): SHA-256 of that seed.
        nonce (str): Public input of the seed of the order before the opening: 32 hexadecimal digits, new with each new
            `opens_at`. Example: 00112233445566778899aabbccddeeff.
        room_id (str):  Example: lobby.
        status (RoomPhase): Whether a room admits visitors now.
        waiting (int): Tickets in the queue. Example: 17.
        eta_s (int | None | Unset): Seconds until a user who joins now is admitted, by the rate at which sessions ended
            in the last minute; null
            when unknown. Example: 40.
        joined (int | None | Unset): How many joined before the opening, once the ledger has it and while the list is
            kept.
        opens_at (datetime.datetime | None | Unset):
        seed (None | str | Unset): The seed, once the ledger has the opening. With it and the list of `GET
            /v1/rooms/{id}/pre-queue` (role read),
            which the operator can publish, anybody can check the order.
        sha256 (None | str | Unset): SHA-256 of the list of their tickets, each with a line feed, in join order.
        stopped (None | Stopped | Unset):
    """

    active: int
    at: datetime.datetime
    capacity: int
    commitment: str
    nonce: str
    room_id: str
    status: RoomPhase
    waiting: int
    eta_s: int | None | Unset = UNSET
    joined: int | None | Unset = UNSET
    opens_at: datetime.datetime | None | Unset = UNSET
    seed: None | str | Unset = UNSET
    sha256: None | str | Unset = UNSET
    stopped: None | Stopped | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.stopped import Stopped

        active = self.active

        at = self.at.isoformat()

        capacity = self.capacity

        commitment = self.commitment

        nonce = self.nonce

        room_id = self.room_id

        status: str = self.status

        waiting = self.waiting

        eta_s: int | None | Unset
        if isinstance(self.eta_s, Unset):
            eta_s = UNSET
        else:
            eta_s = self.eta_s

        joined: int | None | Unset
        if isinstance(self.joined, Unset):
            joined = UNSET
        else:
            joined = self.joined

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

        sha256: None | str | Unset
        if isinstance(self.sha256, Unset):
            sha256 = UNSET
        else:
            sha256 = self.sha256

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
                "active": active,
                "at": at,
                "capacity": capacity,
                "commitment": commitment,
                "nonce": nonce,
                "room_id": room_id,
                "status": status,
                "waiting": waiting,
            }
        )
        if eta_s is not UNSET:
            field_dict["eta_s"] = eta_s
        if joined is not UNSET:
            field_dict["joined"] = joined
        if opens_at is not UNSET:
            field_dict["opens_at"] = opens_at
        if seed is not UNSET:
            field_dict["seed"] = seed
        if sha256 is not UNSET:
            field_dict["sha256"] = sha256
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stopped import Stopped

        d = dict(src_dict)
        active = d.pop("active")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        capacity = d.pop("capacity")

        commitment = d.pop("commitment")

        nonce = d.pop("nonce")

        room_id = d.pop("room_id")

        status = check_room_phase(d.pop("status"))

        waiting = d.pop("waiting")

        def _parse_eta_s(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        eta_s = _parse_eta_s(d.pop("eta_s", UNSET))

        def _parse_joined(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        joined = _parse_joined(d.pop("joined", UNSET))

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

        def _parse_sha256(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        sha256 = _parse_sha256(d.pop("sha256", UNSET))

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

        room_status = cls(
            active=active,
            at=at,
            capacity=capacity,
            commitment=commitment,
            nonce=nonce,
            room_id=room_id,
            status=status,
            waiting=waiting,
            eta_s=eta_s,
            joined=joined,
            opens_at=opens_at,
            seed=seed,
            sha256=sha256,
            stopped=stopped,
        )

        room_status.additional_properties = d
        return room_status

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
