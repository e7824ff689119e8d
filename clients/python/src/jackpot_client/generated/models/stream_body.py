from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="StreamBody")


@_attrs_define
class StreamBody:
    """How far a subscription is with a subject.

    Attributes:
        delivered_n (int): Number of the last event of the ledger that was delivered, or passed because nothing of it is
            subscribed to. Example: 8820.
        lag (int): Events that are still to be delivered. An answer reads at most 5,000 events of the ledger for it;
            each further one
            counts as one. Example: 0.
        subject (str):  Example: jackpot:spring.
        last_error (None | str | Unset): Why the last try failed; null after a success. Example: the target answered 503
            Service Unavailable.
        next_try_at (datetime.datetime | None | Unset): RFC 3339; null while nothing fails.
    """

    delivered_n: int
    lag: int
    subject: str
    last_error: None | str | Unset = UNSET
    next_try_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        delivered_n = self.delivered_n

        lag = self.lag

        subject = self.subject

        last_error: None | str | Unset
        if isinstance(self.last_error, Unset):
            last_error = UNSET
        else:
            last_error = self.last_error

        next_try_at: None | str | Unset
        if isinstance(self.next_try_at, Unset):
            next_try_at = UNSET
        elif isinstance(self.next_try_at, datetime.datetime):
            next_try_at = self.next_try_at.isoformat()
        else:
            next_try_at = self.next_try_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delivered_n": delivered_n,
                "lag": lag,
                "subject": subject,
            }
        )
        if last_error is not UNSET:
            field_dict["last_error"] = last_error
        if next_try_at is not UNSET:
            field_dict["next_try_at"] = next_try_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        delivered_n = d.pop("delivered_n")

        lag = d.pop("lag")

        subject = d.pop("subject")

        def _parse_last_error(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_error = _parse_last_error(d.pop("last_error", UNSET))

        def _parse_next_try_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_try_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_try_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        next_try_at = _parse_next_try_at(d.pop("next_try_at", UNSET))

        stream_body = cls(
            delivered_n=delivered_n,
            lag=lag,
            subject=subject,
            last_error=last_error,
            next_try_at=next_try_at,
        )

        stream_body.additional_properties = d
        return stream_body

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
