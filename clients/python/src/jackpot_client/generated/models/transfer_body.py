from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.transfer_body_tiers import TransferBodyTiers


T = TypeVar("T", bound="TransferBody")


@_attrs_define
class TransferBody:
    """A transfer of everything that some tiers hold.

    Attributes:
        reason (str): 1 to 500 characters, no control characters. Example: end of season.
        tiers (TransferBodyTiers): For each tier that gives, the tier of the other jackpot that it goes to. Example:
            {'grand': 'grand'}.
        to (str): The jackpot that it goes to, of the same currency. Example: summer.
        transfer_id (str): Chosen by the operator. The same id works once for a jackpot. Example: end-of-season.
    """

    reason: str
    tiers: TransferBodyTiers
    to: str
    transfer_id: str

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        tiers = self.tiers.to_dict()

        to = self.to

        transfer_id = self.transfer_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
                "tiers": tiers,
                "to": to,
                "transfer_id": transfer_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.transfer_body_tiers import TransferBodyTiers

        d = dict(src_dict)
        reason = d.pop("reason")

        tiers = TransferBodyTiers.from_dict(d.pop("tiers"))

        to = d.pop("to")

        transfer_id = d.pop("transfer_id")

        transfer_body = cls(
            reason=reason,
            tiers=tiers,
            to=to,
            transfer_id=transfer_id,
        )

        return transfer_body
