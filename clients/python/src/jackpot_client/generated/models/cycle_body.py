from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.ended_by import EndedBy, check_ended_by
from ..types import UNSET, Unset

T = TypeVar("T", bound="CycleBody")


@_attrs_define
class CycleBody:
    """A cycle of a tier: from one take of all to the next, under a seed of its own.

    Attributes:
        began_at (datetime.datetime): RFC 3339.
        commitment (str): Hexadecimal SHA-256 of the seed, published when the cycle began. Example:
            a9e13bb45fafaa915d3bc9373af757636aea08307943a2385b7f32c7c8328e51.
        cycle (int): From 0. Example: 0.
        nonce (str): Public input of the seed: 32 hexadecimal digits. Example: 00112233445566778899aabbccddeeff.
        secret_id (str): Id of the draw secret of the seed: 16 hexadecimal digits. Example: abc44bcf0634a438.
        tier (str):  Example: grand.
        deadline_at (datetime.datetime | None | Unset): RFC 3339: the trigger is at most this second; null without a
            time.
        ended_at (datetime.datetime | None | Unset): RFC 3339; null while open.
        ended_by (EndedBy | None | Unset):
        from_at (datetime.datetime | None | Unset): RFC 3339: the trigger is after this second; null without a time.
        high (int | None | Unset): The largest trigger, minor units; null without an amount.
        low (int | None | Unset): Every trigger is above it, minor units; null without an amount.
        seed (None | str | Unset): The seed in hexadecimal, once the end of the cycle is in the ledger; null before.
        trigger_amount (int | None | Unset): The amount that was to be reached, minor units; null before the seed is
            published, and without an amount.
        trigger_at (datetime.datetime | None | Unset): RFC 3339; from here on an entry hit. Null before the seed is
            published, and without a time.
        version (int | None | Unset): Version of the definition that it began under: its rule, `cap` and `min_payout`
            count until the cycle ends. Null
            for a cycle that an earlier version of the service began. Example: 1.
    """

    began_at: datetime.datetime
    commitment: str
    cycle: int
    nonce: str
    secret_id: str
    tier: str
    deadline_at: datetime.datetime | None | Unset = UNSET
    ended_at: datetime.datetime | None | Unset = UNSET
    ended_by: EndedBy | None | Unset = UNSET
    from_at: datetime.datetime | None | Unset = UNSET
    high: int | None | Unset = UNSET
    low: int | None | Unset = UNSET
    seed: None | str | Unset = UNSET
    trigger_amount: int | None | Unset = UNSET
    trigger_at: datetime.datetime | None | Unset = UNSET
    version: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        began_at = self.began_at.isoformat()

        commitment = self.commitment

        cycle = self.cycle

        nonce = self.nonce

        secret_id = self.secret_id

        tier = self.tier

        deadline_at: None | str | Unset
        if isinstance(self.deadline_at, Unset):
            deadline_at = UNSET
        elif isinstance(self.deadline_at, datetime.datetime):
            deadline_at = self.deadline_at.isoformat()
        else:
            deadline_at = self.deadline_at

        ended_at: None | str | Unset
        if isinstance(self.ended_at, Unset):
            ended_at = UNSET
        elif isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        ended_by: None | str | Unset
        if isinstance(self.ended_by, Unset):
            ended_by = UNSET
        elif isinstance(self.ended_by, str):
            ended_by = self.ended_by
        else:
            ended_by = self.ended_by

        from_at: None | str | Unset
        if isinstance(self.from_at, Unset):
            from_at = UNSET
        elif isinstance(self.from_at, datetime.datetime):
            from_at = self.from_at.isoformat()
        else:
            from_at = self.from_at

        high: int | None | Unset
        if isinstance(self.high, Unset):
            high = UNSET
        else:
            high = self.high

        low: int | None | Unset
        if isinstance(self.low, Unset):
            low = UNSET
        else:
            low = self.low

        seed: None | str | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        trigger_amount: int | None | Unset
        if isinstance(self.trigger_amount, Unset):
            trigger_amount = UNSET
        else:
            trigger_amount = self.trigger_amount

        trigger_at: None | str | Unset
        if isinstance(self.trigger_at, Unset):
            trigger_at = UNSET
        elif isinstance(self.trigger_at, datetime.datetime):
            trigger_at = self.trigger_at.isoformat()
        else:
            trigger_at = self.trigger_at

        version: int | None | Unset
        if isinstance(self.version, Unset):
            version = UNSET
        else:
            version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "began_at": began_at,
                "commitment": commitment,
                "cycle": cycle,
                "nonce": nonce,
                "secret_id": secret_id,
                "tier": tier,
            }
        )
        if deadline_at is not UNSET:
            field_dict["deadline_at"] = deadline_at
        if ended_at is not UNSET:
            field_dict["ended_at"] = ended_at
        if ended_by is not UNSET:
            field_dict["ended_by"] = ended_by
        if from_at is not UNSET:
            field_dict["from_at"] = from_at
        if high is not UNSET:
            field_dict["high"] = high
        if low is not UNSET:
            field_dict["low"] = low
        if seed is not UNSET:
            field_dict["seed"] = seed
        if trigger_amount is not UNSET:
            field_dict["trigger_amount"] = trigger_amount
        if trigger_at is not UNSET:
            field_dict["trigger_at"] = trigger_at
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        began_at = datetime.datetime.fromisoformat(d.pop("began_at"))

        commitment = d.pop("commitment")

        cycle = d.pop("cycle")

        nonce = d.pop("nonce")

        secret_id = d.pop("secret_id")

        tier = d.pop("tier")

        def _parse_deadline_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                deadline_at_type_0 = datetime.datetime.fromisoformat(data)

                return deadline_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        deadline_at = _parse_deadline_at(d.pop("deadline_at", UNSET))

        def _parse_ended_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        ended_at = _parse_ended_at(d.pop("ended_at", UNSET))

        def _parse_ended_by(data: object) -> EndedBy | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_by_type_0 = check_ended_by(data)

                return ended_by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EndedBy | None | Unset, data)

        ended_by = _parse_ended_by(d.pop("ended_by", UNSET))

        def _parse_from_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                from_at_type_0 = datetime.datetime.fromisoformat(data)

                return from_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        from_at = _parse_from_at(d.pop("from_at", UNSET))

        def _parse_high(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        high = _parse_high(d.pop("high", UNSET))

        def _parse_low(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        low = _parse_low(d.pop("low", UNSET))

        def _parse_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))

        def _parse_trigger_amount(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        trigger_amount = _parse_trigger_amount(d.pop("trigger_amount", UNSET))

        def _parse_trigger_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                trigger_at_type_0 = datetime.datetime.fromisoformat(data)

                return trigger_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        trigger_at = _parse_trigger_at(d.pop("trigger_at", UNSET))

        def _parse_version(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        version = _parse_version(d.pop("version", UNSET))

        cycle_body = cls(
            began_at=began_at,
            commitment=commitment,
            cycle=cycle,
            nonce=nonce,
            secret_id=secret_id,
            tier=tier,
            deadline_at=deadline_at,
            ended_at=ended_at,
            ended_by=ended_by,
            from_at=from_at,
            high=high,
            low=low,
            seed=seed,
            trigger_amount=trigger_amount,
            trigger_at=trigger_at,
            version=version,
        )

        cycle_body.additional_properties = d
        return cycle_body

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
