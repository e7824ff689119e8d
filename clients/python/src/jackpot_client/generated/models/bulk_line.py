from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.bulk_line_result import BulkLineResult, check_bulk_line_result
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bulk_line_metadata_type_0 import BulkLineMetadataType0
    from ..models.field_error import FieldError
    from ..models.issue_body import IssueBody
    from ..models.redeemed import Redeemed


T = TypeVar("T", bound="BulkLine")


@_attrs_define
class BulkLine:
    """The answer to one line, or why no further line is read.

    Attributes:
        line (int): Number of the line in the upload, from 1. Blank lines count, but have no answer. Example: 1.
        attempts (int | None | Unset): How often the queue's consumer has taken it.
        code (None | str | Unset): Code of the unit: 18 characters of Crockford's base32, the last two being check
            characters. Null for a `read`
            key made without `--codes`. Example: 7KQ2XM-0V9TPB-3HWD1C.
        decided_at (datetime.datetime | None | Unset): Time of the refusal.
        detail (str | Unset):
        errors (list[FieldError] | Unset):
        issue (IssueBody | None | Unset):
        issued_at (datetime.datetime | None | Unset): RFC 3339, like all times here.
        metadata (BulkLineMetadataType0 | None | Unset): As the request brought it; left out without any.
        position (int | None | Unset): Place in the queue, from 1: the next request to be served. Example: 3.
        queued_at (datetime.datetime | None | Unset): Time of joining the queue.
        redeemed (None | Redeemed | Unset):
        replayed (bool | Unset): Whether the request had its answer before this line; left out otherwise.
        request_id (str | Unset):  Example: r-1.
        result (BulkLineResult | Unset): Of a line that got an answer as that of one request. `refused`: this line only;
            the next lines go on. `stopped`:
            this line and all lines after it were not read, or their results are unknown. Send the list again.
        sequence (int | None | Unset): Number of the unit within the coupon, from 1; never used twice. Example: 7.
        user_id (str | Unset):  Example: u-1.
        voided_at (datetime.datetime | None | Unset):
    """

    line: int
    attempts: int | None | Unset = UNSET
    code: None | str | Unset = UNSET
    decided_at: datetime.datetime | None | Unset = UNSET
    detail: str | Unset = UNSET
    errors: list[FieldError] | Unset = UNSET
    issue: IssueBody | None | Unset = UNSET
    issued_at: datetime.datetime | None | Unset = UNSET
    metadata: BulkLineMetadataType0 | None | Unset = UNSET
    position: int | None | Unset = UNSET
    queued_at: datetime.datetime | None | Unset = UNSET
    redeemed: None | Redeemed | Unset = UNSET
    replayed: bool | Unset = UNSET
    request_id: str | Unset = UNSET
    result: BulkLineResult | Unset = UNSET
    sequence: int | None | Unset = UNSET
    user_id: str | Unset = UNSET
    voided_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bulk_line_metadata_type_0 import BulkLineMetadataType0
        from ..models.issue_body import IssueBody
        from ..models.redeemed import Redeemed

        line = self.line

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

        detail = self.detail

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

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
        elif isinstance(self.metadata, BulkLineMetadataType0):
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

        replayed = self.replayed

        request_id = self.request_id

        result: str | Unset = UNSET
        if not isinstance(self.result, Unset):
            result = self.result

        sequence: int | None | Unset
        if isinstance(self.sequence, Unset):
            sequence = UNSET
        else:
            sequence = self.sequence

        user_id = self.user_id

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
                "line": line,
            }
        )
        if attempts is not UNSET:
            field_dict["attempts"] = attempts
        if code is not UNSET:
            field_dict["code"] = code
        if decided_at is not UNSET:
            field_dict["decided_at"] = decided_at
        if detail is not UNSET:
            field_dict["detail"] = detail
        if errors is not UNSET:
            field_dict["errors"] = errors
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
        if replayed is not UNSET:
            field_dict["replayed"] = replayed
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if result is not UNSET:
            field_dict["result"] = result
        if sequence is not UNSET:
            field_dict["sequence"] = sequence
        if user_id is not UNSET:
            field_dict["user_id"] = user_id
        if voided_at is not UNSET:
            field_dict["voided_at"] = voided_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bulk_line_metadata_type_0 import BulkLineMetadataType0
        from ..models.field_error import FieldError
        from ..models.issue_body import IssueBody
        from ..models.redeemed import Redeemed

        d = dict(src_dict)
        line = d.pop("line")

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

        detail = d.pop("detail", UNSET)

        _errors = d.pop("errors", UNSET)
        errors: list[FieldError] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = FieldError.from_dict(errors_item_data)

                errors.append(errors_item)

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

        def _parse_metadata(data: object) -> BulkLineMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = BulkLineMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BulkLineMetadataType0 | None | Unset, data)

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

        replayed = d.pop("replayed", UNSET)

        request_id = d.pop("request_id", UNSET)

        _result = d.pop("result", UNSET)
        result: BulkLineResult | Unset
        if isinstance(_result, Unset):
            result = UNSET
        else:
            result = check_bulk_line_result(_result)

        def _parse_sequence(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        sequence = _parse_sequence(d.pop("sequence", UNSET))

        user_id = d.pop("user_id", UNSET)

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

        bulk_line = cls(
            line=line,
            attempts=attempts,
            code=code,
            decided_at=decided_at,
            detail=detail,
            errors=errors,
            issue=issue,
            issued_at=issued_at,
            metadata=metadata,
            position=position,
            queued_at=queued_at,
            redeemed=redeemed,
            replayed=replayed,
            request_id=request_id,
            result=result,
            sequence=sequence,
            user_id=user_id,
            voided_at=voided_at,
        )

        bulk_line.additional_properties = d
        return bulk_line

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
