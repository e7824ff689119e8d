from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EntryCoupon")


@_attrs_define
class EntryCoupon:
    """A unit of a coupon that an entry won.

    Attributes:
        coupon_id (str): Of which coupon. Example: coffee.
        request_id (str): Of the issue; made by the service. Example: draw:spring:round-8812-p7.
        sequence (int): Number of the issue within the coupon, from 1. Example: 17.
        code (None | str | Unset): As it was given to the player; null for a `read` key made without `--codes`. Example:
            7Q2M9K-4TZX0B-C8WRH5.
    """

    coupon_id: str
    request_id: str
    sequence: int
    code: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        coupon_id = self.coupon_id

        request_id = self.request_id

        sequence = self.sequence

        code: None | str | Unset
        if isinstance(self.code, Unset):
            code = UNSET
        else:
            code = self.code

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "coupon_id": coupon_id,
                "request_id": request_id,
                "sequence": sequence,
            }
        )
        if code is not UNSET:
            field_dict["code"] = code

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        coupon_id = d.pop("coupon_id")

        request_id = d.pop("request_id")

        sequence = d.pop("sequence")

        def _parse_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        code = _parse_code(d.pop("code", UNSET))

        entry_coupon = cls(
            coupon_id=coupon_id,
            request_id=request_id,
            sequence=sequence,
            code=code,
        )

        entry_coupon.additional_properties = d
        return entry_coupon

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
