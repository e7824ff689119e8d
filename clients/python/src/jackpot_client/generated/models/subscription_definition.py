from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.begin import Begin, check_begin
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.target_type_0 import TargetType0
    from ..models.target_type_1 import TargetType1
    from ..models.target_type_2 import TargetType2


T = TypeVar("T", bound="SubscriptionDefinition")


@_attrs_define
class SubscriptionDefinition:
    """A subscription, as a PUT sends it.

    Attributes:
        subjects (list[str]): Subjects, as `jackpot:spring`, which need not exist yet; or `*` alone, for all. 1 to 100.
            Example: ['jackpot:spring'].
        target (TargetType0 | TargetType1 | TargetType2): Where events go: one of the three.
        types (list[str]): Types of events, such as `payout.created`; `payout.*` for all types that begin so, `*` for
            every event. 1 to 100. Example: ['payout.*'].
        from_ (Begin | Unset): Where a subject begins.
    """

    subjects: list[str]
    target: TargetType0 | TargetType1 | TargetType2
    types: list[str]
    from_: Begin | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.target_type_0 import TargetType0
        from ..models.target_type_1 import TargetType1

        subjects = self.subjects

        target: dict[str, Any]
        if isinstance(self.target, TargetType0) or isinstance(self.target, TargetType1):
            target = self.target.to_dict()
        else:
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
        from ..models.target_type_0 import TargetType0
        from ..models.target_type_1 import TargetType1
        from ..models.target_type_2 import TargetType2

        d = dict(src_dict)
        subjects = cast(list[str], d.pop("subjects"))

        def _parse_target(data: object) -> TargetType0 | TargetType1 | TargetType2:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_target_type_0 = TargetType0.from_dict(data)

                return componentsschemas_target_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_target_type_1 = TargetType1.from_dict(data)

                return componentsschemas_target_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_target_type_2 = TargetType2.from_dict(data)

            return componentsschemas_target_type_2

        target = _parse_target(d.pop("target"))

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
