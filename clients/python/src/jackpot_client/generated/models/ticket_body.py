from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.ticket_body_ticket_body_status_value import (
    TicketBodyTicketBodyStatusValue,
    check_ticket_body_ticket_body_status_value,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="TicketBody")


@_attrs_define
class TicketBody:
    """A ticket and its place. A field that its status does not use is left out, except an unknown `eta_s`.

    Attributes:
        status (TicketBodyTicketBodyStatusValue): admitted, waiting, expired, abandoned or left Example: admitted.
        ticket (str): A secret: its holder has the place. Example: 0f8fad5bd9cb469fa16570867728950e.
        admitted_at (datetime.datetime | Unset):
        ahead (int | Unset): How many tickets are ahead. Example: 17.
        ended_at (datetime.datetime | Unset):  Example: 2026-12-01T00:05:00.000Z.
        eta_s (int | None | Unset): Seconds until admission, by the rate at which sessions ended in the last minute;
            null when unknown. Example: 40.
        expires_at (datetime.datetime | Unset): The end of the session, a whole second in RFC 3339, like all times here.
            A renewal moves it. Example: 2026-12-01T00:05:00.000Z.
        pass_ (str | Unset): The pass: a JWT (RFC 7519) for the header `X-Room-Pass`, valid until `expires_at`.
        poll_after_s (float | Unset): Seconds after which to ask again. A place that nobody asks for is lost after
            `waiting_timeout_s`, and an
            admitted user has `session_s` to learn of it. The value is below half of both. For places far from the front
            it is below half of the former alone. Example: 1.0.
        position (int | Unset): Place in the queue, from 1: the next ticket to be admitted. Before the opening each join
            may change it. Example: 18.
    """

    status: TicketBodyTicketBodyStatusValue
    ticket: str
    admitted_at: datetime.datetime | Unset = UNSET
    ahead: int | Unset = UNSET
    ended_at: datetime.datetime | Unset = UNSET
    eta_s: int | None | Unset = UNSET
    expires_at: datetime.datetime | Unset = UNSET
    pass_: str | Unset = UNSET
    poll_after_s: float | Unset = UNSET
    position: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        ticket = self.ticket

        admitted_at: str | Unset = UNSET
        if not isinstance(self.admitted_at, Unset):
            admitted_at = self.admitted_at.isoformat()

        ahead = self.ahead

        ended_at: str | Unset = UNSET
        if not isinstance(self.ended_at, Unset):
            ended_at = self.ended_at.isoformat()

        eta_s: int | None | Unset
        if isinstance(self.eta_s, Unset):
            eta_s = UNSET
        else:
            eta_s = self.eta_s

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        pass_ = self.pass_

        poll_after_s = self.poll_after_s

        position = self.position

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "ticket": ticket,
            }
        )
        if admitted_at is not UNSET:
            field_dict["admitted_at"] = admitted_at
        if ahead is not UNSET:
            field_dict["ahead"] = ahead
        if ended_at is not UNSET:
            field_dict["ended_at"] = ended_at
        if eta_s is not UNSET:
            field_dict["eta_s"] = eta_s
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if pass_ is not UNSET:
            field_dict["pass"] = pass_
        if poll_after_s is not UNSET:
            field_dict["poll_after_s"] = poll_after_s
        if position is not UNSET:
            field_dict["position"] = position

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        status = check_ticket_body_ticket_body_status_value(d.pop("status"))

        ticket = d.pop("ticket")

        _admitted_at = d.pop("admitted_at", UNSET)
        admitted_at: datetime.datetime | Unset
        if isinstance(_admitted_at, Unset):
            admitted_at = UNSET
        else:
            admitted_at = datetime.datetime.fromisoformat(_admitted_at)

        ahead = d.pop("ahead", UNSET)

        _ended_at = d.pop("ended_at", UNSET)
        ended_at: datetime.datetime | Unset
        if isinstance(_ended_at, Unset):
            ended_at = UNSET
        else:
            ended_at = datetime.datetime.fromisoformat(_ended_at)

        def _parse_eta_s(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        eta_s = _parse_eta_s(d.pop("eta_s", UNSET))

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        pass_ = d.pop("pass", UNSET)

        poll_after_s = d.pop("poll_after_s", UNSET)

        position = d.pop("position", UNSET)

        ticket_body = cls(
            status=status,
            ticket=ticket,
            admitted_at=admitted_at,
            ahead=ahead,
            ended_at=ended_at,
            eta_s=eta_s,
            expires_at=expires_at,
            pass_=pass_,
            poll_after_s=poll_after_s,
            position=position,
        )

        ticket_body.additional_properties = d
        return ticket_body

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
