from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.void_receipt_void_receipt_kind_value import (
    VoidReceiptVoidReceiptKindValue,
    check_void_receipt_void_receipt_kind_value,
)

T = TypeVar("T", bound="VoidReceipt")


@_attrs_define
class VoidReceipt:
    """A payout that was taken back, signed. The receipt of the payout stays as it is.

    Attributes:
        amount (int): How much. Example: 18811.
        jackpot_id (str): Who had paid. Example: spring.
        key_id (str): Which key of `/v1/keys` signed. Example: kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k.
        kind (VoidReceiptVoidReceiptKindValue): Always `void`. Example: void.
        payout_id (str): Id of the payout. Example: 4d0ad2ff0fb81f1d1a8ae2b1f8cbf0b5.
        signature (str): Ed25519 over the RFC 8785 form of this object without this member; base64url.
        tier (str): Into whose overflow the money went. Example: grand.
        voided_at (datetime.datetime): When, RFC 3339. Example: 2026-11-22T09:00:00.125Z.
    """

    amount: int
    jackpot_id: str
    key_id: str
    kind: VoidReceiptVoidReceiptKindValue
    payout_id: str
    signature: str
    tier: str
    voided_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        amount = self.amount

        jackpot_id = self.jackpot_id

        key_id = self.key_id

        kind: str = self.kind

        payout_id = self.payout_id

        signature = self.signature

        tier = self.tier

        voided_at = self.voided_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "amount": amount,
                "jackpot_id": jackpot_id,
                "key_id": key_id,
                "kind": kind,
                "payout_id": payout_id,
                "signature": signature,
                "tier": tier,
                "voided_at": voided_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        amount = d.pop("amount")

        jackpot_id = d.pop("jackpot_id")

        key_id = d.pop("key_id")

        kind = check_void_receipt_void_receipt_kind_value(d.pop("kind"))

        payout_id = d.pop("payout_id")

        signature = d.pop("signature")

        tier = d.pop("tier")

        voided_at = datetime.datetime.fromisoformat(d.pop("voided_at"))

        void_receipt = cls(
            amount=amount,
            jackpot_id=jackpot_id,
            key_id=key_id,
            kind=kind,
            payout_id=payout_id,
            signature=signature,
            tier=tier,
            voided_at=voided_at,
        )

        return void_receipt
