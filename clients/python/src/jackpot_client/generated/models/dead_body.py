from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.dead_body_metadata_type_0 import DeadBodyMetadataType0


T = TypeVar("T", bound="DeadBody")


@_attrs_define
class DeadBody:
    """A request that was taken three times without being served.

    Attributes:
        request_id (str):  Example: r-1.
        arrival (int | None | Unset): Its arrival number in the queue, which decides its place after a redrive. Example:
            12.
        attempts (int | None | Unset):  Example: 3.
        metadata (DeadBodyMetadataType0 | None | Unset): Null also for a request without any.
        queued_at (datetime.datetime | None | Unset): Time of joining the queue, RFC 3339.
        user_id (None | str | Unset): Null, like all fields below, if its record can't be read. Example: u-1.
    """

    request_id: str
    arrival: int | None | Unset = UNSET
    attempts: int | None | Unset = UNSET
    metadata: DeadBodyMetadataType0 | None | Unset = UNSET
    queued_at: datetime.datetime | None | Unset = UNSET
    user_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.dead_body_metadata_type_0 import DeadBodyMetadataType0

        request_id = self.request_id

        arrival: int | None | Unset
        if isinstance(self.arrival, Unset):
            arrival = UNSET
        else:
            arrival = self.arrival

        attempts: int | None | Unset
        if isinstance(self.attempts, Unset):
            attempts = UNSET
        else:
            attempts = self.attempts

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, DeadBodyMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        queued_at: None | str | Unset
        if isinstance(self.queued_at, Unset):
            queued_at = UNSET
        elif isinstance(self.queued_at, datetime.datetime):
            queued_at = self.queued_at.isoformat()
        else:
            queued_at = self.queued_at

        user_id: None | str | Unset
        if isinstance(self.user_id, Unset):
            user_id = UNSET
        else:
            user_id = self.user_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "request_id": request_id,
            }
        )
        if arrival is not UNSET:
            field_dict["arrival"] = arrival
        if attempts is not UNSET:
            field_dict["attempts"] = attempts
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if queued_at is not UNSET:
            field_dict["queued_at"] = queued_at
        if user_id is not UNSET:
            field_dict["user_id"] = user_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.dead_body_metadata_type_0 import DeadBodyMetadataType0

        d = dict(src_dict)
        request_id = d.pop("request_id")

        def _parse_arrival(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        arrival = _parse_arrival(d.pop("arrival", UNSET))

        def _parse_attempts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        attempts = _parse_attempts(d.pop("attempts", UNSET))

        def _parse_metadata(data: object) -> DeadBodyMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = DeadBodyMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeadBodyMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_queued_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                queued_at_type_0 = datetime.datetime.fromisoformat(data)

                return queued_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        queued_at = _parse_queued_at(d.pop("queued_at", UNSET))

        def _parse_user_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        user_id = _parse_user_id(d.pop("user_id", UNSET))

        dead_body = cls(
            request_id=request_id,
            arrival=arrival,
            attempts=attempts,
            metadata=metadata,
            queued_at=queued_at,
            user_id=user_id,
        )

        dead_body.additional_properties = d
        return dead_body

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
