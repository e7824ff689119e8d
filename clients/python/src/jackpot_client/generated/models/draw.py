from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.drawn_by import DrawnBy, check_drawn_by
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attempt_body import AttemptBody
    from ..models.must_hit import MustHit


T = TypeVar("T", bound="Draw")


@_attrs_define
class Draw:
    """How the entry was drawn. With the epoch's seed, once published, anyone can repeat the draw.

    Attributes:
        attempts (list[AttemptBody]): Empty for an entry that hit a pool by its rule.
        by (DrawnBy): Who draws the entries of a source.
        commitment (str):
        definition_version (int):  Example: 3.
        epoch (int):  Example: 1.
        must_hit (MustHit | None | Unset):
    """

    attempts: list[AttemptBody]
    by: DrawnBy
    commitment: str
    definition_version: int
    epoch: int
    must_hit: MustHit | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.must_hit import MustHit

        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        by: str = self.by

        commitment = self.commitment

        definition_version = self.definition_version

        epoch = self.epoch

        must_hit: dict[str, Any] | None | Unset
        if isinstance(self.must_hit, Unset):
            must_hit = UNSET
        elif isinstance(self.must_hit, MustHit):
            must_hit = self.must_hit.to_dict()
        else:
            must_hit = self.must_hit

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "by": by,
                "commitment": commitment,
                "definition_version": definition_version,
                "epoch": epoch,
            }
        )
        if must_hit is not UNSET:
            field_dict["must_hit"] = must_hit

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_body import AttemptBody
        from ..models.must_hit import MustHit

        d = dict(src_dict)
        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = AttemptBody.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        by = check_drawn_by(d.pop("by"))

        commitment = d.pop("commitment")

        definition_version = d.pop("definition_version")

        epoch = d.pop("epoch")

        def _parse_must_hit(data: object) -> MustHit | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                must_hit_type_0 = MustHit.from_dict(data)

                return must_hit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MustHit | None | Unset, data)

        must_hit = _parse_must_hit(d.pop("must_hit", UNSET))

        draw = cls(
            attempts=attempts,
            by=by,
            commitment=commitment,
            definition_version=definition_version,
            epoch=epoch,
            must_hit=must_hit,
        )

        draw.additional_properties = d
        return draw

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
