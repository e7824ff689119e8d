from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.begin import Begin, check_begin
from ..models.subscription_state import SubscriptionState, check_subscription_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.stream_body import StreamBody
    from ..models.target_type_0 import TargetType0
    from ..models.target_type_1 import TargetType1
    from ..models.target_type_2 import TargetType2


T = TypeVar("T", bound="Subscription")


@_attrs_define
class Subscription:
    """A subscription, and how far it is.

    Attributes:
        alarm (bool): Whether an event has failed for 24 hours.
        from_ (Begin): Where a subject begins.
        id (str):  Example: accounting.
        state (SubscriptionState): Whether a subscription delivers.
        streams (list[StreamBody]): Its subjects that the ledger has: at most 1,000, those that fail first.
        subjects (list[str]):  Example: ['jackpot:spring'].
        target (TargetType0 | TargetType1 | TargetType2): Where events go: one of the three.
        types (list[str]):  Example: ['payout.*'].
        verification_key (None | str | Unset): Public half of the key that signs what this subscription gets: `whpk_`
            and the Base64 of 32 bytes. Null while the
            draw secret that it is derived from is not configured. Example:
            whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=.
    """

    alarm: bool
    from_: Begin
    id: str
    state: SubscriptionState
    streams: list[StreamBody]
    subjects: list[str]
    target: TargetType0 | TargetType1 | TargetType2
    types: list[str]
    verification_key: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.target_type_0 import TargetType0
        from ..models.target_type_1 import TargetType1

        alarm = self.alarm

        from_: str = self.from_

        id = self.id

        state: str = self.state

        streams = []
        for streams_item_data in self.streams:
            streams_item = streams_item_data.to_dict()
            streams.append(streams_item)

        subjects = self.subjects

        target: dict[str, Any]
        if isinstance(self.target, TargetType0) or isinstance(self.target, TargetType1):
            target = self.target.to_dict()
        else:
            target = self.target.to_dict()

        types = self.types

        verification_key: None | str | Unset
        if isinstance(self.verification_key, Unset):
            verification_key = UNSET
        else:
            verification_key = self.verification_key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "alarm": alarm,
                "from": from_,
                "id": id,
                "state": state,
                "streams": streams,
                "subjects": subjects,
                "target": target,
                "types": types,
            }
        )
        if verification_key is not UNSET:
            field_dict["verification_key"] = verification_key

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stream_body import StreamBody
        from ..models.target_type_0 import TargetType0
        from ..models.target_type_1 import TargetType1
        from ..models.target_type_2 import TargetType2

        d = dict(src_dict)
        alarm = d.pop("alarm")

        from_ = check_begin(d.pop("from"))

        id = d.pop("id")

        state = check_subscription_state(d.pop("state"))

        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = StreamBody.from_dict(streams_item_data)

            streams.append(streams_item)

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

        def _parse_verification_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        verification_key = _parse_verification_key(d.pop("verification_key", UNSET))

        subscription = cls(
            alarm=alarm,
            from_=from_,
            id=id,
            state=state,
            streams=streams,
            subjects=subjects,
            target=target,
            types=types,
            verification_key=verification_key,
        )

        subscription.additional_properties = d
        return subscription

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
