from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DailyTier")


@_attrs_define
class DailyTier:
    """The day of a tier, minor units.

    Attributes:
        closing (int): Pool, reserve and overflow at the end.
        contributed (int): What came from entries, as whole units reached pool, reserve or overflow. It counts what a
            skipped event brought in.
        currency (str):  Example: KRW.
        funded (int): What operators put in, less what they took out; with what reversals did not find in the tier.
        jackpot_id (str):
        opening (int): Pool, reserve and overflow at the begin: `closing` of the day before.
        paid (int): What winners were paid; voided payouts too.
        payouts (int): Number of payouts.
        reversed_ (int): What reversals gave back.
        row (str): Always `tier`. Example: tier.
        tier (str):
        transferred_in (int): What came from other jackpots.
        transferred_out (int): What went to other jackpots.
        voided (int): What voided payouts brought back.
        wins (int): Takes of all.
    """

    closing: int
    contributed: int
    currency: str
    funded: int
    jackpot_id: str
    opening: int
    paid: int
    payouts: int
    reversed_: int
    row: str
    tier: str
    transferred_in: int
    transferred_out: int
    voided: int
    wins: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        closing = self.closing

        contributed = self.contributed

        currency = self.currency

        funded = self.funded

        jackpot_id = self.jackpot_id

        opening = self.opening

        paid = self.paid

        payouts = self.payouts

        reversed_ = self.reversed_

        row = self.row

        tier = self.tier

        transferred_in = self.transferred_in

        transferred_out = self.transferred_out

        voided = self.voided

        wins = self.wins

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "closing": closing,
                "contributed": contributed,
                "currency": currency,
                "funded": funded,
                "jackpot_id": jackpot_id,
                "opening": opening,
                "paid": paid,
                "payouts": payouts,
                "reversed": reversed_,
                "row": row,
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
        closing = d.pop("closing")

        contributed = d.pop("contributed")

        currency = d.pop("currency")

        funded = d.pop("funded")

        jackpot_id = d.pop("jackpot_id")

        opening = d.pop("opening")

        paid = d.pop("paid")

        payouts = d.pop("payouts")

        reversed_ = d.pop("reversed")

        row = d.pop("row")

        tier = d.pop("tier")

        transferred_in = d.pop("transferred_in")

        transferred_out = d.pop("transferred_out")

        voided = d.pop("voided")

        wins = d.pop("wins")

        daily_tier = cls(
            closing=closing,
            contributed=contributed,
            currency=currency,
            funded=funded,
            jackpot_id=jackpot_id,
            opening=opening,
            paid=paid,
            payouts=payouts,
            reversed_=reversed_,
            row=row,
            tier=tier,
            transferred_in=transferred_in,
            transferred_out=transferred_out,
            voided=voided,
            wins=wins,
        )

        daily_tier.additional_properties = d
        return daily_tier

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
