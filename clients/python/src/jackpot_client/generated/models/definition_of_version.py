from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.settlement import Settlement, check_settlement
from ..models.winners import Winners, check_winners
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.contribution_fixed import ContributionFixed
    from ..models.contribution_rate_ppm import ContributionRatePpm
    from ..models.odds_table import OddsTable
    from ..models.tier import Tier


T = TypeVar("T", bound="DefinitionOfVersion")


@_attrs_define
class DefinitionOfVersion:
    """A version of a definition in its public form.

    Attributes:
        contribution (ContributionFixed | ContributionRatePpm): What an entry adds to the tiers, before their shares.
        currency (str):  Example: KRW.
        id (str):  Example: spring.
        max_redraws (int):
        min_stake (int):
        name (str):  Example: Spring wheel.
        odds (OddsTable): The odds table.
        origins (list[str]):
        public_meter (bool):
        reverse_within_s (int):  Example: 300.
        settlement (Settlement): Whether the service follows payouts until the winner has the money.
        tiers (list[Tier]):
        version (int):  Example: 3.
        winners (Winners): What the public list of winners shows of a player.
        max_stake (int | None | Unset):
    """

    contribution: ContributionFixed | ContributionRatePpm
    currency: str
    id: str
    max_redraws: int
    min_stake: int
    name: str
    odds: OddsTable
    origins: list[str]
    public_meter: bool
    reverse_within_s: int
    settlement: Settlement
    tiers: list[Tier]
    version: int
    winners: Winners
    max_stake: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.contribution_fixed import ContributionFixed

        contribution: dict[str, Any]
        if isinstance(self.contribution, ContributionFixed):
            contribution = self.contribution.to_dict()
        else:
            contribution = self.contribution.to_dict()

        currency = self.currency

        id = self.id

        max_redraws = self.max_redraws

        min_stake = self.min_stake

        name = self.name

        odds = self.odds.to_dict()

        origins = self.origins

        public_meter = self.public_meter

        reverse_within_s = self.reverse_within_s

        settlement: str = self.settlement

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        version = self.version

        winners: str = self.winners

        max_stake: int | None | Unset
        if isinstance(self.max_stake, Unset):
            max_stake = UNSET
        else:
            max_stake = self.max_stake

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contribution": contribution,
                "currency": currency,
                "id": id,
                "max_redraws": max_redraws,
                "min_stake": min_stake,
                "name": name,
                "odds": odds,
                "origins": origins,
                "public_meter": public_meter,
                "reverse_within_s": reverse_within_s,
                "settlement": settlement,
                "tiers": tiers,
                "version": version,
                "winners": winners,
            }
        )
        if max_stake is not UNSET:
            field_dict["max_stake"] = max_stake

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm
        from ..models.odds_table import OddsTable
        from ..models.tier import Tier

        d = dict(src_dict)

        def _parse_contribution(
            data: object,
        ) -> ContributionFixed | ContributionRatePpm:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_contribution_contribution_fixed = (
                    ContributionFixed.from_dict(data)
                )

                return componentsschemas_contribution_contribution_fixed
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_contribution_contribution_rate_ppm = (
                ContributionRatePpm.from_dict(data)
            )

            return componentsschemas_contribution_contribution_rate_ppm

        contribution = _parse_contribution(d.pop("contribution"))

        currency = d.pop("currency")

        id = d.pop("id")

        max_redraws = d.pop("max_redraws")

        min_stake = d.pop("min_stake")

        name = d.pop("name")

        odds = OddsTable.from_dict(d.pop("odds"))

        origins = cast(list[str], d.pop("origins"))

        public_meter = d.pop("public_meter")

        reverse_within_s = d.pop("reverse_within_s")

        settlement = check_settlement(d.pop("settlement"))

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = Tier.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        version = d.pop("version")

        winners = check_winners(d.pop("winners"))

        def _parse_max_stake(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_stake = _parse_max_stake(d.pop("max_stake", UNSET))

        definition_of_version = cls(
            contribution=contribution,
            currency=currency,
            id=id,
            max_redraws=max_redraws,
            min_stake=min_stake,
            name=name,
            odds=odds,
            origins=origins,
            public_meter=public_meter,
            reverse_within_s=reverse_within_s,
            settlement=settlement,
            tiers=tiers,
            version=version,
            winners=winners,
            max_stake=max_stake,
        )

        definition_of_version.additional_properties = d
        return definition_of_version

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
