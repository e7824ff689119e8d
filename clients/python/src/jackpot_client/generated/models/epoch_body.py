from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EpochBody")


@_attrs_define
class EpochBody:
    """A period under one secret seed.

    Attributes:
        commitment (str): Hexadecimal SHA-256 of the seed, published when the epoch opened. Example:
            7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258.
        epoch (int):  Example: 1.
        nonce (str): Public input of the seed: 32 hexadecimal digits, public since the epoch opened. Example:
            00112233445566778899aabbccddeeff.
        opened_at (datetime.datetime): RFC 3339.
        secret_id (str): Id of the draw secret of the seed: 16 hexadecimal digits. Example: abc44bcf0634a438.
        closed_at (datetime.datetime | None | Unset): RFC 3339; null while open.
        seed (None | str | Unset): The seed in hexadecimal, once it is published; null before. The service publishes it
            when the ledger has the
            closing and no pending entry needs the seed.
    """

    commitment: str
    epoch: int
    nonce: str
    opened_at: datetime.datetime
    secret_id: str
    closed_at: datetime.datetime | None | Unset = UNSET
    seed: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        commitment = self.commitment

        epoch = self.epoch

        nonce = self.nonce

        opened_at = self.opened_at.isoformat()

        secret_id = self.secret_id

        closed_at: None | str | Unset
        if isinstance(self.closed_at, Unset):
            closed_at = UNSET
        elif isinstance(self.closed_at, datetime.datetime):
            closed_at = self.closed_at.isoformat()
        else:
            closed_at = self.closed_at

        seed: None | str | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "commitment": commitment,
                "epoch": epoch,
                "nonce": nonce,
                "opened_at": opened_at,
                "secret_id": secret_id,
            }
        )
        if closed_at is not UNSET:
            field_dict["closed_at"] = closed_at
        if seed is not UNSET:
            field_dict["seed"] = seed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        commitment = d.pop("commitment")

        epoch = d.pop("epoch")

        nonce = d.pop("nonce")

        opened_at = datetime.datetime.fromisoformat(d.pop("opened_at"))

        secret_id = d.pop("secret_id")

        def _parse_closed_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                closed_at_type_0 = datetime.datetime.fromisoformat(data)

                return closed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        closed_at = _parse_closed_at(d.pop("closed_at", UNSET))

        def _parse_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))

        epoch_body = cls(
            commitment=commitment,
            epoch=epoch,
            nonce=nonce,
            opened_at=opened_at,
            secret_id=secret_id,
            closed_at=closed_at,
            seed=seed,
        )

        epoch_body.additional_properties = d
        return epoch_body

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
