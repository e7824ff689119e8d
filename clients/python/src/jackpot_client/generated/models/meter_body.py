from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MeterBody")


@_attrs_define
class MeterBody:
    """The money of a tier, in minor units unless named otherwise.

    Attributes:
        contributed (int): Whole units of the exact sum of contributions.
        funded (int): Paid in minus taken out by operators.
        overflow (int): Contributions beyond the cap.
        paid (int): Paid by claims.
        pool (int): The pool from which winners are paid.
        remainder_micro (int): Millionths carried, of pool and reserve together.
        reserve (int): Pays for the next seed.
        reversed_ (int): Given back for cancelled rounds: whole units of the exact sum.
        tier (str):  Example: grand.
        transferred_in (int): Came from other jackpots: whole units of the exact sum.
        transferred_out (int): Went to other jackpots: whole units of the exact sum.
        voided (int): Payouts that were taken back: they are in the overflow again.
        wins (int): Takes of all.
    """

    contributed: int
    funded: int
    overflow: int
    paid: int
    pool: int
    remainder_micro: int
    reserve: int
    reversed_: int
    tier: str
    transferred_in: int
    transferred_out: int
    voided: int
    wins: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        contributed = self.contributed

        funded = self.funded

        overflow = self.overflow

        paid = self.paid

        pool = self.pool

        remainder_micro = self.remainder_micro

        reserve = self.reserve

        reversed_ = self.reversed_

        tier = self.tier

        transferred_in = self.transferred_in

        transferred_out = self.transferred_out

        voided = self.voided

        wins = self.wins

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contributed": contributed,
                "funded": funded,
                "overflow": overflow,
                "paid": paid,
                "pool": pool,
                "remainder_micro": remainder_micro,
                "reserve": reserve,
                "reversed": reversed_,
                "tier": tier,
                "transferred_in": transferred_in,
                "transferred_out": transferred_out,
                "voided": voided,
                "wins": wins,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        contributed = d.pop("contributed")

        funded = d.pop("funded")

        overflow = d.pop("overflow")

        paid = d.pop("paid")

        pool = d.pop("pool")

        remainder_micro = d.pop("remainder_micro")

        reserve = d.pop("reserve")

        reversed_ = d.pop("reversed")

        tier = d.pop("tier")

        transferred_in = d.pop("transferred_in")

        transferred_out = d.pop("transferred_out")

        voided = d.pop("voided")

        wins = d.pop("wins")

        meter_body = cls(
            contributed=contributed,
            funded=funded,
            overflow=overflow,
            paid=paid,
            pool=pool,
            remainder_micro=remainder_micro,
            reserve=reserve,
            reversed_=reversed_,
            tier=tier,
            transferred_in=transferred_in,
            transferred_out=transferred_out,
            voided=voided,
            wins=wins,
        )

        meter_body.additional_properties = d
        return meter_body

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
