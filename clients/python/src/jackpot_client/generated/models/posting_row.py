from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PostingRow")


@_attrs_define
class PostingRow:
    """One line of double entry. The lines of one event and tier sum to zero, `micro` included.

    Attributes:
        account (str): contributions, pool, reserve, overflow, remainder, payouts or funding Example: pool.
        amount (int): Minor units, debit positive. Example: 1.
        at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        event_id (str): The same as an id: `<jackpot_id>:<n>`. Example: spring:8820.
        line (int): Number of the line in the event. Example: 1.
        micro (int): Millionths of a minor unit, on top of `amount`. Example: 0.
        n (int): Number of the event in its jackpot. Example: 8820.
        tier (str): Of which tier. Example: grand.
    """

    account: str
    amount: int
    at: datetime.datetime
    event_id: str
    line: int
    micro: int
    n: int
    tier: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        account = self.account

        amount = self.amount

        at = self.at.isoformat()

        event_id = self.event_id

        line = self.line

        micro = self.micro

        n = self.n

        tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "account": account,
                "amount": amount,
                "at": at,
                "event_id": event_id,
                "line": line,
                "micro": micro,
                "n": n,
                "tier": tier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        account = d.pop("account")

        amount = d.pop("amount")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        event_id = d.pop("event_id")

        line = d.pop("line")

        micro = d.pop("micro")

        n = d.pop("n")

        tier = d.pop("tier")

        posting_row = cls(
            account=account,
            amount=amount,
            at=at,
            event_id=event_id,
            line=line,
            micro=micro,
            n=n,
            tier=tier,
        )

        posting_row.additional_properties = d
        return posting_row

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
