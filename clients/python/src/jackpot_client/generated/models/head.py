from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Head")


@_attrs_define
class Head:
    """The signed head of a jackpot's chain. A reader who keeps one notices if the history before it was rewritten.

    Attributes:
        at (datetime.datetime): When this was signed, RFC 3339. Example: 2026-11-21T06:45:03.125Z.
        hash_ (str): Its hash in the chain, in hexadecimal. Example:
            1b1584e55fb6852166e99de01cf21176f848aaed8af2b5f806b6f49922437254.
        jackpot_id (str): Whose chain. Example: spring.
        key_id (str): Which key of `/v1/keys` signed. Example: kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k.
        ledger_id (str): In which ledger. Example: 0c9a7c1e-2f0d-4d8e-9c1a-6f5b8a3d2e10.
        n (int): Number of the last event; 0 before the first. Example: 8812.
        signature (str): Ed25519 over the RFC 8785 form of the head without this member; base64url.
    """

    at: datetime.datetime
    hash_: str
    jackpot_id: str
    key_id: str
    ledger_id: str
    n: int
    signature: str

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        hash_ = self.hash_

        jackpot_id = self.jackpot_id

        key_id = self.key_id

        ledger_id = self.ledger_id

        n = self.n

        signature = self.signature

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "at": at,
                "hash": hash_,
                "jackpot_id": jackpot_id,
                "key_id": key_id,
                "ledger_id": ledger_id,
                "n": n,
                "signature": signature,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        hash_ = d.pop("hash")

        jackpot_id = d.pop("jackpot_id")

        key_id = d.pop("key_id")

        ledger_id = d.pop("ledger_id")

        n = d.pop("n")

        signature = d.pop("signature")

        head = cls(
            at=at,
            hash_=hash_,
            jackpot_id=jackpot_id,
            key_id=key_id,
            ledger_id=ledger_id,
            n=n,
            signature=signature,
        )

        return head
