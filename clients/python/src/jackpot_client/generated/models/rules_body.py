from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.contribution_fixed import ContributionFixed
    from ..models.contribution_rate_ppm import ContributionRatePpm
    from ..models.expected_return import ExpectedReturn
    from ..models.odds_table import OddsTable
    from ..models.rules_tier import RulesTier


T = TypeVar("T", bound="RulesBody")


@_attrs_define
class RulesBody:
    """The rules of a jackpot, by the definition in force.

    Attributes:
        contribution (ContributionFixed | ContributionRatePpm): What an entry adds to the tiers, before their shares.
        currency (str):  Example: KRW.
        expected_return_ppm (ExpectedReturn): What a player gets back on average, in parts per million of the stake,
            rounded down.

            A number that depends on the stake is of `odds.per_stake`, else of the one stake that the definition allows,
            above 0.
            Else it is null. So is a number beyond 2^53-1. Redraws do not count. A play that hits a pool by its must-hit
            rule counts
            as drawn, though it is not.
        fairness (str): Where draws are checked. Example: You need not trust us. Every draw can be recomputed:
            /v1/jackpots/spring/fairness has the commitments and, once an epoch has ended, its seed; /j/spring#check draws
            any entry again..
        jackpot_id (str):  Example: spring.
        name (str):  Example: Spring wheel.
        odds (OddsTable): The odds table.
        redraws (str): What happens with a prize that is refused. Example: A prize that can't be given is drawn again,
            up to 16 times..
        simultaneous_wins (str): How winners of the same moment are paid. Example: Every play is drawn once. Players who
            win at the same moment are paid in the order that the service recorded: the first takes the prize from the pool,
            the next from what the pool then holds..
        tiers (list[RulesTier]):
        version (int): Version of the definition in force. Example: 3.
    """

    contribution: ContributionFixed | ContributionRatePpm
    currency: str
    expected_return_ppm: ExpectedReturn
    fairness: str
    jackpot_id: str
    name: str
    odds: OddsTable
    redraws: str
    simultaneous_wins: str
    tiers: list[RulesTier]
    version: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.contribution_fixed import ContributionFixed

        contribution: dict[str, Any]
        if isinstance(self.contribution, ContributionFixed):
            contribution = self.contribution.to_dict()
        else:
            contribution = self.contribution.to_dict()

        currency = self.currency

        expected_return_ppm = self.expected_return_ppm.to_dict()

        fairness = self.fairness

        jackpot_id = self.jackpot_id

        name = self.name

        odds = self.odds.to_dict()

        redraws = self.redraws

        simultaneous_wins = self.simultaneous_wins

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contribution": contribution,
                "currency": currency,
                "expected_return_ppm": expected_return_ppm,
                "fairness": fairness,
                "jackpot_id": jackpot_id,
                "name": name,
                "odds": odds,
                "redraws": redraws,
                "simultaneous_wins": simultaneous_wins,
                "tiers": tiers,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm
        from ..models.expected_return import ExpectedReturn
        from ..models.odds_table import OddsTable
        from ..models.rules_tier import RulesTier

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

        expected_return_ppm = ExpectedReturn.from_dict(d.pop("expected_return_ppm"))

        fairness = d.pop("fairness")

        jackpot_id = d.pop("jackpot_id")

        name = d.pop("name")

        odds = OddsTable.from_dict(d.pop("odds"))

        redraws = d.pop("redraws")

        simultaneous_wins = d.pop("simultaneous_wins")

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = RulesTier.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        version = d.pop("version")

        rules_body = cls(
            contribution=contribution,
            currency=currency,
            expected_return_ppm=expected_return_ppm,
            fairness=fairness,
            jackpot_id=jackpot_id,
            name=name,
            odds=odds,
            redraws=redraws,
            simultaneous_wins=simultaneous_wins,
            tiers=tiers,
            version=version,
        )

        rules_body.additional_properties = d
        return rules_body

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
