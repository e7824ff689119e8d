from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Receipt")


@_attrs_define
class Receipt:
    """A payout, signed: who got how much of what, in which order. Amounts are in minor units.

    Attributes:
        amount (int): Minor units. Example: 18811.
        claim_order (int): Number of the paid claim within the jackpot, from 1. Example: 4.
        currency (str): ISO 4217, or a game's own. Example: KRW.
        entry_id (str): For which entry. Example: round-8812-p7.
        event_id (str): Id of its event `payout.created`: `jackpot:<jackpot_id>:<history>:<n>:<i>`. Example:
            jackpot:spring:9f1c0a44d2b7e633:8812:0.
        history (str): The history in which it was paid: 16 hexadecimal digits, other ones after each restore. Example:
            9f1c0a44d2b7e633.
        jackpot_id (str): Which jackpot paid. Example: spring.
        key_id (str): The key that signed it: `/v1/keys`. Example: kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k.
        paid_at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:45:03.125Z.
        payout_id (str): Made by the service. Example: 4d0ad2ff0fb81f1d1a8ae2b1f8cbf0b5.
        player_id (str): To whom. Example: p7.
        pool_after (int): What it held after, before it was seeded again. Example: 0.
        pool_before (int): What the pool held before, minor units. Example: 18811.
        signature (str): Ed25519 over the RFC 8785 form of the receipt without this member; base64url.
        tier (str): Out of which tier. Example: grand.
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

        field_dict: dict[str, Any] = {}

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

        receipt = cls(
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
        )

        return receipt
