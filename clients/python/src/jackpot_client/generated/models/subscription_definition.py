from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.begin import Begin, check_begin
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.target import Target


T = TypeVar("T", bound="SubscriptionDefinition")


@_attrs_define
class SubscriptionDefinition:
    """A subscription, as a PUT sends it.

    Attributes:
        subjects (list[str]): Subjects, as `jackpot:spring`, which need not exist yet; or `*` alone, for all. 1 to 100.
            Example: ['jackpot:spring'].
        target (Target): Where events go.
        types (list[str]): Types of events, such as `payout.created`; `payout.*` for all types that begin so, `*` for
            every event. 1 to 100. Example: ['payout.*'].
        from_ (Begin | Unset): Where a subject begins.
    """

    subjects: list[str]
    target: Target
    types: list[str]
    from_: Begin | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        subjects = self.subjects

        target = self.target.to_dict()

        types = self.types

        from_: str | Unset = UNSET
        if not isinstance(self.from_, Unset):
            from_ = self.from_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "subjects": subjects,
                "target": target,
                "types": types,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.target import Target

        d = dict(src_dict)
        subjects = cast(list[str], d.pop("subjects"))

        target = Target.from_dict(d.pop("target"))

        types = cast(list[str], d.pop("types"))

        _from_ = d.pop("from", UNSET)
        from_: Begin | Unset
        if isinstance(_from_, Unset):
            from_ = UNSET
        else:
            from_ = check_begin(_from_)

        subscription_definition = cls(
            subjects=subjects,
            target=target,
            types=types,
            from_=from_,
        )

        return subscription_definition
