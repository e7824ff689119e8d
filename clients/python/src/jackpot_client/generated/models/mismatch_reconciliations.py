from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_code import ProblemCode, check_problem_code

if TYPE_CHECKING:
    from ..models.coupon_reconciliation import CouponReconciliation
    from ..models.field_error import FieldError
    from ..models.reconciliation import Reconciliation
    from ..models.room_reconciliation import RoomReconciliation


T = TypeVar("T", bound="MismatchReconciliations")


@_attrs_define
class MismatchReconciliations:
    """A problem with what was compared.

    Attributes:
        code (ProblemCode): What went wrong, for programs; `/problems/{code}` says what to do.
        coupons (list[CouponReconciliation]):
        detail (str): What is wrong this time.
        errors (list[FieldError]): The fields at fault; empty when it is not about fields.
        items (list[Reconciliation]):
        rooms (list[RoomReconciliation]):
        status (int): The status of the answer.
        title (str): The same for all problems of a code.
        type_ (str): `/problems/` and the code.
    """

    code: ProblemCode
    coupons: list[CouponReconciliation]
    detail: str
    errors: list[FieldError]
    items: list[Reconciliation]
    rooms: list[RoomReconciliation]
    status: int
    title: str
    type_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code: str = self.code

        coupons = []
        for coupons_item_data in self.coupons:
            coupons_item = coupons_item_data.to_dict()
            coupons.append(coupons_item)

        detail = self.detail

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        rooms = []
        for rooms_item_data in self.rooms:
            rooms_item = rooms_item_data.to_dict()
            rooms.append(rooms_item)

        status = self.status

        title = self.title

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "coupons": coupons,
                "detail": detail,
                "errors": errors,
                "items": items,
                "rooms": rooms,
                "status": status,
                "title": title,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.coupon_reconciliation import CouponReconciliation
        from ..models.field_error import FieldError
        from ..models.reconciliation import Reconciliation
        from ..models.room_reconciliation import RoomReconciliation

        d = dict(src_dict)
        code = check_problem_code(d.pop("code"))

        coupons = []
        _coupons = d.pop("coupons")
        for coupons_item_data in _coupons:
            coupons_item = CouponReconciliation.from_dict(coupons_item_data)

            coupons.append(coupons_item)

        detail = d.pop("detail")

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in _errors:
            errors_item = FieldError.from_dict(errors_item_data)

            errors.append(errors_item)

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

        status = d.pop("status")

        title = d.pop("title")

        type_ = d.pop("type")

        mismatch_reconciliations = cls(
            code=code,
            coupons=coupons,
            detail=detail,
            errors=errors,
            items=items,
            rooms=rooms,
            status=status,
            title=title,
            type_=type_,
        )

        mismatch_reconciliations.additional_properties = d
        return mismatch_reconciliations

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
