from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.refused_reason import RefusedReason, check_refused_reason
from ..models.refused_subject_refused_subject_kind_value import (
    RefusedSubjectRefusedSubjectKindValue,
    check_refused_subject_refused_subject_kind_value,
)

T = TypeVar("T", bound="RefusedSubject")


@_attrs_define
class RefusedSubject:
    """One that this instance refuses.

    Attributes:
        detail (str): What to know about it.
        id (str): Which.
        kind (RefusedSubjectRefusedSubjectKindValue): `jackpot`, `coupon` or `room`.
        reason (RefusedReason): Why an instance refuses a subject without an operator's request.
    """

    detail: str
    id: str
    kind: RefusedSubjectRefusedSubjectKindValue
    reason: RefusedReason
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        id = self.id

        kind: str = self.kind

        reason: str = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "detail": detail,
                "id": id,
                "kind": kind,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        detail = d.pop("detail")

        id = d.pop("id")

        kind = check_refused_subject_refused_subject_kind_value(d.pop("kind"))

        reason = check_refused_reason(d.pop("reason"))

        refused_subject = cls(
            detail=detail,
            id=id,
            kind=kind,
            reason=reason,
        )

        refused_subject.additional_properties = d
        return refused_subject

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
