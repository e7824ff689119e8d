from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.request_state import RequestState, check_request_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.issue_body_metadata_type_0 import IssueBodyMetadataType0
    from ..models.redeemed import Redeemed


T = TypeVar("T", bound="IssueBody")


@_attrs_define
class IssueBody:
    """A request and its result. A field that its result does not use is left out.

    Attributes:
        request_id (str):  Example: r-1.
        result (RequestState): What came of a request.
        user_id (str):  Example: u-1.
        attempts (int | None | Unset): How often the queue's consumer has taken it.
        code (None | str | Unset): Code of the unit: 18 characters of Crockford's base32, the last two being check
            characters. Null for a `read`
            key made without `--codes`. Example: 7KQ2XM-0V9TPB-3HWD1C.
        decided_at (datetime.datetime | None | Unset): Time of the refusal.
        issue (IssueBody | None | Unset):
        issued_at (datetime.datetime | None | Unset): RFC 3339, like all times here.
        metadata (IssueBodyMetadataType0 | None | Unset): As the request brought it; left out without any.
        position (int | None | Unset): Place in the queue, from 1: the next request to be served. Example: 3.
        queued_at (datetime.datetime | None | Unset): Time of joining the queue.
        redeemed (None | Redeemed | Unset):
        sequence (int | None | Unset): Number of the unit within the coupon, from 1; never used twice. Example: 7.
        voided_at (datetime.datetime | None | Unset):
    """

    request_id: str
    result: RequestState
    user_id: str
    attempts: int | None | Unset = UNSET
    code: None | str | Unset = UNSET
    decided_at: datetime.datetime | None | Unset = UNSET
    issue: IssueBody | None | Unset = UNSET
    issued_at: datetime.datetime | None | Unset = UNSET
    metadata: IssueBodyMetadataType0 | None | Unset = UNSET
    position: int | None | Unset = UNSET
    queued_at: datetime.datetime | None | Unset = UNSET
    redeemed: None | Redeemed | Unset = UNSET
    sequence: int | None | Unset = UNSET
    voided_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.issue_body_metadata_type_0 import IssueBodyMetadataType0
        from ..models.redeemed import Redeemed

        request_id = self.request_id

        result: str = self.result

        user_id = self.user_id

        attempts: int | None | Unset
        if isinstance(self.attempts, Unset):
            attempts = UNSET
        else:
            attempts = self.attempts

        code: None | str | Unset
        if isinstance(self.code, Unset):
            code = UNSET
        else:
            code = self.code

        decided_at: None | str | Unset
        if isinstance(self.decided_at, Unset):
            decided_at = UNSET
        elif isinstance(self.decided_at, datetime.datetime):
            decided_at = self.decided_at.isoformat()
        else:
            decided_at = self.decided_at

        issue: dict[str, Any] | None | Unset
        if isinstance(self.issue, Unset):
            issue = UNSET
        elif isinstance(self.issue, IssueBody):
            issue = self.issue.to_dict()
        else:
            issue = self.issue

        issued_at: None | str | Unset
        if isinstance(self.issued_at, Unset):
            issued_at = UNSET
        elif isinstance(self.issued_at, datetime.datetime):
            issued_at = self.issued_at.isoformat()
        else:
            issued_at = self.issued_at

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, IssueBodyMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        position: int | None | Unset
        if isinstance(self.position, Unset):
            position = UNSET
        else:
            position = self.position

        queued_at: None | str | Unset
        if isinstance(self.queued_at, Unset):
            queued_at = UNSET
        elif isinstance(self.queued_at, datetime.datetime):
            queued_at = self.queued_at.isoformat()
        else:
            queued_at = self.queued_at

        redeemed: dict[str, Any] | None | Unset
        if isinstance(self.redeemed, Unset):
            redeemed = UNSET
        elif isinstance(self.redeemed, Redeemed):
            redeemed = self.redeemed.to_dict()
        else:
            redeemed = self.redeemed

        sequence: int | None | Unset
        if isinstance(self.sequence, Unset):
            sequence = UNSET
        else:
            sequence = self.sequence

        voided_at: None | str | Unset
        if isinstance(self.voided_at, Unset):
            voided_at = UNSET
        elif isinstance(self.voided_at, datetime.datetime):
            voided_at = self.voided_at.isoformat()
        else:
            voided_at = self.voided_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "request_id": request_id,
                "result": result,
                "user_id": user_id,
            }
        )
        if attempts is not UNSET:
            field_dict["attempts"] = attempts
        if code is not UNSET:
            field_dict["code"] = code
        if decided_at is not UNSET:
            field_dict["decided_at"] = decided_at
        if issue is not UNSET:
            field_dict["issue"] = issue
        if issued_at is not UNSET:
            field_dict["issued_at"] = issued_at
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if position is not UNSET:
            field_dict["position"] = position
        if queued_at is not UNSET:
            field_dict["queued_at"] = queued_at
        if redeemed is not UNSET:
            field_dict["redeemed"] = redeemed
        if sequence is not UNSET:
            field_dict["sequence"] = sequence
        if voided_at is not UNSET:
            field_dict["voided_at"] = voided_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.issue_body_metadata_type_0 import IssueBodyMetadataType0
        from ..models.redeemed import Redeemed

        d = dict(src_dict)
        request_id = d.pop("request_id")

        result = check_request_state(d.pop("result"))

        user_id = d.pop("user_id")

        def _parse_attempts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        attempts = _parse_attempts(d.pop("attempts", UNSET))

        def _parse_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        code = _parse_code(d.pop("code", UNSET))

        def _parse_decided_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decided_at_type_0 = datetime.datetime.fromisoformat(data)

                return decided_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        decided_at = _parse_decided_at(d.pop("decided_at", UNSET))

        def _parse_issue(data: object) -> IssueBody | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                issue_type_0 = IssueBody.from_dict(data)

                return issue_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IssueBody | None | Unset, data)

        issue = _parse_issue(d.pop("issue", UNSET))

        def _parse_issued_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                issued_at_type_0 = datetime.datetime.fromisoformat(data)

                return issued_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        issued_at = _parse_issued_at(d.pop("issued_at", UNSET))

        def _parse_metadata(data: object) -> IssueBodyMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = IssueBodyMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IssueBodyMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_position(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        position = _parse_position(d.pop("position", UNSET))

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

        def _parse_redeemed(data: object) -> None | Redeemed | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                redeemed_type_0 = Redeemed.from_dict(data)

                return redeemed_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Redeemed | Unset, data)

        redeemed = _parse_redeemed(d.pop("redeemed", UNSET))

        def _parse_sequence(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        sequence = _parse_sequence(d.pop("sequence", UNSET))

        def _parse_voided_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                voided_at_type_0 = datetime.datetime.fromisoformat(data)

                return voided_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        voided_at = _parse_voided_at(d.pop("voided_at", UNSET))

        issue_body = cls(
            request_id=request_id,
            result=result,
            user_id=user_id,
            attempts=attempts,
            code=code,
            decided_at=decided_at,
            issue=issue,
            issued_at=issued_at,
            metadata=metadata,
            position=position,
            queued_at=queued_at,
            redeemed=redeemed,
            sequence=sequence,
            voided_at=voided_at,
        )

        issue_body.additional_properties = d
        return issue_body

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
