from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_row_audit_row_action_value import (
    AuditRowAuditRowActionValue,
    check_audit_row_audit_row_action_value,
)

T = TypeVar("T", bound="AuditRow")


@_attrs_define
class AuditRow:
    """One action of an operator.

    Attributes:
        action (AuditRowAuditRowActionValue): define, pause, resume, suspend, close, adjust, reverse, transfer, rotate,
            restore, void, redrive, skip,
            delete, replay, emergency-stop or emergency-start Example: pause.
        after (Any): What it became, in the same form.
        at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        before (Any): What it was: a status, or the fields that the action changed; null where there was nothing.
        reason (str): Why, as the operator said; empty for a change by the API that takes no reason. Example: launch.
        request_id (str): `X-Request-Id` of the answer to it.
        target (str): The jackpot, coupon or room, or `subscription:` and its id, with what is meant of it after a `/`,
            such as an adjustment. Example: spring.
        who (str): Name of the key that acted. Example: operator.
    """

    action: AuditRowAuditRowActionValue
    after: Any
    at: datetime.datetime
    before: Any
    reason: str
    request_id: str
    target: str
    who: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action: str = self.action

        after = self.after

        at = self.at.isoformat()

        before = self.before

        reason = self.reason

        request_id = self.request_id

        target = self.target

        who = self.who

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "after": after,
                "at": at,
                "before": before,
                "reason": reason,
                "request_id": request_id,
                "target": target,
                "who": who,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        action = check_audit_row_audit_row_action_value(d.pop("action"))

        after = d.pop("after")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        before = d.pop("before")

        reason = d.pop("reason")

        request_id = d.pop("request_id")

        target = d.pop("target")

        who = d.pop("who")

        audit_row = cls(
            action=action,
            after=after,
            at=at,
            before=before,
            reason=reason,
            request_id=request_id,
            target=target,
            who=who,
        )

        audit_row.additional_properties = d
        return audit_row

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
