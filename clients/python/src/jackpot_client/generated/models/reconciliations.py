from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.coupon_reconciliation import CouponReconciliation
    from ..models.reconciliation import Reconciliation
    from ..models.room_reconciliation import RoomReconciliation


T = TypeVar("T", bound="Reconciliations")


@_attrs_define
class Reconciliations:
    """The last reconciliation of every jackpot, coupon and room.

    Attributes:
        coupons (list[CouponReconciliation]):
        items (list[Reconciliation]):
        rooms (list[RoomReconciliation]):
    """

    coupons: list[CouponReconciliation]
    items: list[Reconciliation]
    rooms: list[RoomReconciliation]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        coupons = []
        for coupons_item_data in self.coupons:
            coupons_item = coupons_item_data.to_dict()
            coupons.append(coupons_item)

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        rooms = []
        for rooms_item_data in self.rooms:
            rooms_item = rooms_item_data.to_dict()
            rooms.append(rooms_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "coupons": coupons,
                "items": items,
                "rooms": rooms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.coupon_reconciliation import CouponReconciliation
        from ..models.reconciliation import Reconciliation
        from ..models.room_reconciliation import RoomReconciliation

        d = dict(src_dict)
        coupons = []
        _coupons = d.pop("coupons")
        for coupons_item_data in _coupons:
            coupons_item = CouponReconciliation.from_dict(coupons_item_data)

            coupons.append(coupons_item)

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Reconciliation.from_dict(items_item_data)

            items.append(items_item)

        rooms = []
        _rooms = d.pop("rooms")
        for rooms_item_data in _rooms:
            rooms_item = RoomReconciliation.from_dict(rooms_item_data)

            rooms.append(rooms_item)

        reconciliations = cls(
            coupons=coupons,
            items=items,
            rooms=rooms,
        )

        reconciliations.additional_properties = d
        return reconciliations

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
