from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.issue_wish_metadata_type_0 import IssueWishMetadataType0


T = TypeVar("T", bound="IssueWish")


@_attrs_define
class IssueWish:
    """One unit for one user.

    Attributes:
        request_id (str): Chosen by the client. The same id is the same request while the coupon's records are kept.
            Example: r-1.
        user_id (str):  Example: u-1.
        metadata (IssueWishMetadataType0 | None | Unset): Texts that the client keeps with the request, by names that it
            chooses: up to 16 of them, together at most 1,024 bytes
            as JSON without spaces, no control characters. A repeat must bring the same.
    """

    request_id: str
    user_id: str
    metadata: IssueWishMetadataType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.issue_wish_metadata_type_0 import IssueWishMetadataType0

        request_id = self.request_id

        user_id = self.user_id

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, IssueWishMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "request_id": request_id,
                "user_id": user_id,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.issue_wish_metadata_type_0 import IssueWishMetadataType0

        d = dict(src_dict)
        request_id = d.pop("request_id")

        user_id = d.pop("user_id")

        def _parse_metadata(data: object) -> IssueWishMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = IssueWishMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IssueWishMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        issue_wish = cls(
            request_id=request_id,
            user_id=user_id,
            metadata=metadata,
        )

        return issue_wish
