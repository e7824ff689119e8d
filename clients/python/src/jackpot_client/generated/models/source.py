from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.drawn_by import DrawnBy, check_drawn_by
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.contribution_fixed import ContributionFixed
    from ..models.contribution_rate_ppm import ContributionRatePpm


T = TypeVar("T", bound="Source")


@_attrs_define
class Source:
    """A game, site or channel that feeds a jackpot.

    Attributes:
        contribution (ContributionFixed | ContributionRatePpm | None | Unset):
        draw (DrawnBy | Unset): Who draws the entries of a source.
        keys (list[str] | None | Unset): Names of the keys that may send its entries, 1 to 16. null: every key that may
            play. An external source needs them. Example: ['slot-9'].
    """

    contribution: ContributionFixed | ContributionRatePpm | None | Unset = UNSET
    draw: DrawnBy | Unset = UNSET
    keys: list[str] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm

        contribution: dict[str, Any] | None | Unset
        if isinstance(self.contribution, Unset):
            contribution = UNSET
        elif isinstance(self.contribution, ContributionFixed) or isinstance(
            self.contribution, ContributionRatePpm
        ):
            contribution = self.contribution.to_dict()
        else:
            contribution = self.contribution

        draw: str | Unset = UNSET
        if not isinstance(self.draw, Unset):
            draw = self.draw

        keys: list[str] | None | Unset
        if isinstance(self.keys, Unset):
            keys = UNSET
        elif isinstance(self.keys, list):
            keys = self.keys

        else:
            keys = self.keys

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if contribution is not UNSET:
            field_dict["contribution"] = contribution
        if draw is not UNSET:
            field_dict["draw"] = draw
        if keys is not UNSET:
            field_dict["keys"] = keys

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm

        d = dict(src_dict)

        def _parse_contribution(
            data: object,
        ) -> ContributionFixed | ContributionRatePpm | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_contribution_contribution_fixed = (
                    ContributionFixed.from_dict(data)
                )

                return componentsschemas_contribution_contribution_fixed
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_contribution_contribution_rate_ppm = (
                    ContributionRatePpm.from_dict(data)
                )

                return componentsschemas_contribution_contribution_rate_ppm
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ContributionFixed | ContributionRatePpm | None | Unset, data)

        contribution = _parse_contribution(d.pop("contribution", UNSET))

        _draw = d.pop("draw", UNSET)
        draw: DrawnBy | Unset
        if isinstance(_draw, Unset):
            draw = UNSET
        else:
            draw = check_drawn_by(_draw)

        def _parse_keys(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                keys_type_0 = cast(list[str], data)

                return keys_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        keys = _parse_keys(d.pop("keys", UNSET))

        source = cls(
            contribution=contribution,
            draw=draw,
            keys=keys,
        )

        return source
