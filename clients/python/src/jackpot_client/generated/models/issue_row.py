from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.issue_row_metadata_type_0 import IssueRowMetadataType0
    from ..models.redeemed import Redeemed


T = TypeVar("T", bound="IssueRow")


@_attrs_define
class IssueRow:
    """A unit that was given to a user.

    Attributes:
        issued_at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        request_id (str): The request that got it. Example: r-8812.
        sequence (int): Its number within the coupon, from 1. Example: 17.
        user_id (str): Whose it is. Example: p7.
        code (None | str | Unset): Its code; null for a `read` key made without `--codes`. Example:
            7QK3M9-0X2YB4-ZT8C1P.
        metadata (IssueRowMetadataType0 | None | Unset): As its request brought it; null: none.
        redeemed (None | Redeemed | Unset):
        voided_at (datetime.datetime | None | Unset): When it was taken back, RFC 3339; null: it was not.
    """

    issued_at: datetime.datetime
    request_id: str
    sequence: int
    user_id: str
    code: None | str | Unset = UNSET
    metadata: IssueRowMetadataType0 | None | Unset = UNSET
    redeemed: None | Redeemed | Unset = UNSET
    voided_at: datetime.datetime | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.issue_row_metadata_type_0 import IssueRowMetadataType0
        from ..models.redeemed import Redeemed

        issued_at = self.issued_at.isoformat()

        request_id = self.request_id

        sequence = self.sequence

        user_id = self.user_id

        code: None | str | Unset
        if isinstance(self.code, Unset):
            code = UNSET
        else:
            code = self.code

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, IssueRowMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        redeemed: dict[str, Any] | None | Unset
        if isinstance(self.redeemed, Unset):
            redeemed = UNSET
        elif isinstance(self.redeemed, Redeemed):
            redeemed = self.redeemed.to_dict()
        else:
            redeemed = self.redeemed

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
                "issued_at": issued_at,
                "request_id": request_id,
                "sequence": sequence,
                "user_id": user_id,
            }
        )
        if code is not UNSET:
            field_dict["code"] = code
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if redeemed is not UNSET:
            field_dict["redeemed"] = redeemed
        if voided_at is not UNSET:
            field_dict["voided_at"] = voided_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.issue_row_metadata_type_0 import IssueRowMetadataType0
        from ..models.redeemed import Redeemed

        d = dict(src_dict)
        issued_at = datetime.datetime.fromisoformat(d.pop("issued_at"))

        request_id = d.pop("request_id")

        sequence = d.pop("sequence")

        user_id = d.pop("user_id")

        def _parse_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        code = _parse_code(d.pop("code", UNSET))

        def _parse_metadata(data: object) -> IssueRowMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = IssueRowMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IssueRowMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

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

        issue_row = cls(
            issued_at=issued_at,
            request_id=request_id,
            sequence=sequence,
            user_id=user_id,
            code=code,
            metadata=metadata,
            redeemed=redeemed,
            voided_at=voided_at,
        )

        issue_row.additional_properties = d
        return issue_row

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
