from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.payout_state import PayoutState, check_payout_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.payout_step_row import PayoutStepRow
    from ..models.settlement_body import SettlementBody
    from ..models.void_receipt import VoidReceipt


T = TypeVar("T", bound="Payout")


@_attrs_define
class Payout:
    """A payout as lists show it, with all that was done with it.

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
        state (PayoutState): Where a payout is.
        steps (list[PayoutStepRow]): Oldest first: the claim, then each step. Of more than 1,000 steps it has the last
            1,000.
        tier (str): Out of which tier. Example: grand.
        approved_by (None | str | Unset): Name of the key that approved it; null if none did. Example: approve-of-bob.
        settlement (None | SettlementBody | Unset):
        source_id (None | str | Unset): The source of the entry; null if it named none. Example: slot-9.
        void_receipt (None | Unset | VoidReceipt):
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
    state: PayoutState
    steps: list[PayoutStepRow]
    tier: str
    approved_by: None | str | Unset = UNSET
    settlement: None | SettlementBody | Unset = UNSET
    source_id: None | str | Unset = UNSET
    void_receipt: None | Unset | VoidReceipt = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.settlement_body import SettlementBody
        from ..models.void_receipt import VoidReceipt

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

        state: str = self.state

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)

        tier = self.tier

        approved_by: None | str | Unset
        if isinstance(self.approved_by, Unset):
            approved_by = UNSET
        else:
            approved_by = self.approved_by

        settlement: dict[str, Any] | None | Unset
        if isinstance(self.settlement, Unset):
            settlement = UNSET
        elif isinstance(self.settlement, SettlementBody):
            settlement = self.settlement.to_dict()
        else:
            settlement = self.settlement

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        void_receipt: dict[str, Any] | None | Unset
        if isinstance(self.void_receipt, Unset):
            void_receipt = UNSET
        elif isinstance(self.void_receipt, VoidReceipt):
            void_receipt = self.void_receipt.to_dict()
        else:
            void_receipt = self.void_receipt

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
                "state": state,
                "steps": steps,
                "tier": tier,
            }
        )
        if approved_by is not UNSET:
            field_dict["approved_by"] = approved_by
        if settlement is not UNSET:
            field_dict["settlement"] = settlement
        if source_id is not UNSET:
            field_dict["source_id"] = source_id
        if void_receipt is not UNSET:
            field_dict["void_receipt"] = void_receipt

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.payout_step_row import PayoutStepRow
        from ..models.settlement_body import SettlementBody
        from ..models.void_receipt import VoidReceipt

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

        state = check_payout_state(d.pop("state"))

        steps = []
        _steps = d.pop("steps")
        for steps_item_data in _steps:
            steps_item = PayoutStepRow.from_dict(steps_item_data)

            steps.append(steps_item)

        tier = d.pop("tier")

        def _parse_approved_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        approved_by = _parse_approved_by(d.pop("approved_by", UNSET))

        def _parse_settlement(data: object) -> None | SettlementBody | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                settlement_type_0 = SettlementBody.from_dict(data)

                return settlement_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SettlementBody | Unset, data)

        settlement = _parse_settlement(d.pop("settlement", UNSET))

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        def _parse_void_receipt(data: object) -> None | Unset | VoidReceipt:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                void_receipt_type_0 = VoidReceipt.from_dict(data)

                return void_receipt_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | VoidReceipt, data)

        void_receipt = _parse_void_receipt(d.pop("void_receipt", UNSET))

        payout = cls(
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
            state=state,
            steps=steps,
            tier=tier,
            approved_by=approved_by,
            settlement=settlement,
            source_id=source_id,
            void_receipt=void_receipt,
        )

        payout.additional_properties = d
        return payout

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
