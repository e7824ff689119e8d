from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.prize_name import PrizeName, check_prize_name
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.coupon_body import CouponBody


T = TypeVar("T", bound="Outcome")


@_attrs_define
class Outcome:
    """What the entry won. With prize `none`, all other fields are null.

    Attributes:
        prize (PrizeName): What kind of prize an entry won.
        rank (int): 0 for nothing and for a must-hit. Example: 1.
        amount (int | None | Unset): Minor units. Example: 18811.
        claim_order (int | None | Unset): Number of the paid claim within the jackpot, from 1. Example: 4.
        coupon (CouponBody | None | Unset):
        payout_id (None | str | Unset):  Example: 5d0b1c9f7a3e42d6b8a1c07e94f2d358.
        tier (None | str | Unset):  Example: grand.
    """

    prize: PrizeName
    rank: int
    amount: int | None | Unset = UNSET
    claim_order: int | None | Unset = UNSET
    coupon: CouponBody | None | Unset = UNSET
    payout_id: None | str | Unset = UNSET
    tier: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.coupon_body import CouponBody

        prize: str = self.prize

        rank = self.rank

        amount: int | None | Unset
        if isinstance(self.amount, Unset):
            amount = UNSET
        else:
            amount = self.amount

        claim_order: int | None | Unset
        if isinstance(self.claim_order, Unset):
            claim_order = UNSET
        else:
            claim_order = self.claim_order

        coupon: dict[str, Any] | None | Unset
        if isinstance(self.coupon, Unset):
            coupon = UNSET
        elif isinstance(self.coupon, CouponBody):
            coupon = self.coupon.to_dict()
        else:
            coupon = self.coupon

        payout_id: None | str | Unset
        if isinstance(self.payout_id, Unset):
            payout_id = UNSET
        else:
            payout_id = self.payout_id

        tier: None | str | Unset
        if isinstance(self.tier, Unset):
            tier = UNSET
        else:
            tier = self.tier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "prize": prize,
                "rank": rank,
            }
        )
        if amount is not UNSET:
            field_dict["amount"] = amount
        if claim_order is not UNSET:
            field_dict["claim_order"] = claim_order
        if coupon is not UNSET:
            field_dict["coupon"] = coupon
        if payout_id is not UNSET:
            field_dict["payout_id"] = payout_id
        if tier is not UNSET:
            field_dict["tier"] = tier

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.coupon_body import CouponBody

        d = dict(src_dict)
        prize = check_prize_name(d.pop("prize"))

        rank = d.pop("rank")

        def _parse_amount(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        amount = _parse_amount(d.pop("amount", UNSET))

        def _parse_claim_order(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        claim_order = _parse_claim_order(d.pop("claim_order", UNSET))

        def _parse_coupon(data: object) -> CouponBody | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                coupon_type_0 = CouponBody.from_dict(data)

                return coupon_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CouponBody | None | Unset, data)

        coupon = _parse_coupon(d.pop("coupon", UNSET))

        def _parse_payout_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        payout_id = _parse_payout_id(d.pop("payout_id", UNSET))

        def _parse_tier(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tier = _parse_tier(d.pop("tier", UNSET))

        outcome = cls(
            prize=prize,
            rank=rank,
            amount=amount,
            claim_order=claim_order,
            coupon=coupon,
            payout_id=payout_id,
            tier=tier,
        )

        outcome.additional_properties = d
        return outcome

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
