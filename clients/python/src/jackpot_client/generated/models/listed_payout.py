from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ListedPayout")


@_attrs_define
class ListedPayout:
    """A payout in a list: its receipt, and what is beside it. The signature is of the receipt alone.

    Attributes:
        amount (int): Minor units. Example: 18811.
        claim_order (int): Number of the paid claim within the jackpot, from 1. Example: 4.
        currency (str): ISO 4217. Example: KRW.
        entry_id (str): For which entry. Example: round-8812-p7.
        event_id (str): Id of its event `payout.created`: `jackpot:<jackpot_id>:<history>:<n>:<i>`. Example:
            jackpot:spring:9f1c0a44d2b7e633:8820:0.
        history (str): The history in which it was paid: 16 hexadecimal digits, other ones after each restore. Example:
            9f1c0a44d2b7e633.
        jackpot_id (str): Which jackpot paid. Example: spring.
        key_id (str): The key that signed it: `/v1/keys`.
        paid_at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        payout_id (str): Made by the service. Example: 5d0b1c9f7a3e42d6b8a1c07e94f2d358.
        player_id (str): To whom. Example: p7.
        pool_after (int): What it held after, before it was seeded again. Example: 0.
        pool_before (int): What the pool held before, minor units. Example: 18811.
        signature (str): base64url Ed25519 over the RFC 8785 form of this object without `signature`.
        tier (str): Out of which tier. Example: grand.
        source_id (None | str | Unset): The source of the entry; null if it named none. Example: slot-9.
    """

    amount: int
    claim_order: int
    currency: str
    entry_id: str
    event_id: str
    history: str
    jackpot_id: str
    key_id: str
    paid_at: datetime.datetime
    payout_id: str
    player_id: str
    pool_after: int
    pool_before: int
    signature: str
    tier: str
    source_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        claim_order = self.claim_order

        currency = self.currency

        entry_id = self.entry_id

        event_id = self.event_id

        history = self.history

        jackpot_id = self.jackpot_id

        key_id = self.key_id

        paid_at = self.paid_at.isoformat()

        payout_id = self.payout_id

        player_id = self.player_id

        pool_after = self.pool_after

        pool_before = self.pool_before

        signature = self.signature

        tier = self.tier

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "amount": amount,
                "claim_order": claim_order,
                "currency": currency,
                "entry_id": entry_id,
                "event_id": event_id,
                "history": history,
                "jackpot_id": jackpot_id,
                "key_id": key_id,
                "paid_at": paid_at,
                "payout_id": payout_id,
                "player_id": player_id,
                "pool_after": pool_after,
                "pool_before": pool_before,
                "signature": signature,
                "tier": tier,
            }
        )
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        claim_order = d.pop("claim_order")

        currency = d.pop("currency")

        entry_id = d.pop("entry_id")

        event_id = d.pop("event_id")

        history = d.pop("history")

        jackpot_id = d.pop("jackpot_id")

        key_id = d.pop("key_id")

        paid_at = datetime.datetime.fromisoformat(d.pop("paid_at"))

        payout_id = d.pop("payout_id")

        player_id = d.pop("player_id")

        pool_after = d.pop("pool_after")

        pool_before = d.pop("pool_before")

        signature = d.pop("signature")

        tier = d.pop("tier")

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        listed_payout = cls(
            amount=amount,
            claim_order=claim_order,
            currency=currency,
            entry_id=entry_id,
            event_id=event_id,
            history=history,
            jackpot_id=jackpot_id,
            key_id=key_id,
            paid_at=paid_at,
            payout_id=payout_id,
            player_id=player_id,
            pool_after=pool_after,
            pool_before=pool_before,
            signature=signature,
            tier=tier,
            source_id=source_id,
        )

        listed_payout.additional_properties = d
        return listed_payout

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
