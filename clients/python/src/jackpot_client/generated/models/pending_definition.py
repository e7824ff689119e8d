from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.put_status import PutStatus, check_put_status
from ..models.reverse_by import ReverseBy, check_reverse_by
from ..models.settlement import Settlement, check_settlement
from ..models.winners import Winners, check_winners
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.contribution_fixed import ContributionFixed
    from ..models.contribution_rate_ppm import ContributionRatePpm
    from ..models.odds_table import OddsTable
    from ..models.pending_definition_sources import PendingDefinitionSources
    from ..models.tier import Tier


T = TypeVar("T", bound="PendingDefinition")


@_attrs_define
class PendingDefinition:
    """A definition that waits, and its version.

    Attributes:
        contribution (ContributionFixed | ContributionRatePpm): What an entry adds to the tiers, before their shares.
        currency (str): Currency of all amounts: 3 to 8 capital letters or digits, as in ISO 4217. It stays once money
            has been in the
            jackpot. Example: KRW.
        id (str): The jackpot, as in the path. Example: spring.
        name (str): A name for people, 1 to 200 characters. Example: Spring wheel.
        odds (OddsTable): The odds table.
        tiers (list[Tier]): The progressive pools, 1 to 8. A tier stays once it is defined.
        version (int):
        approval_above (int | None | Unset): From this amount on, in minor units, a tracked payout waits for an
            approval; null: none does. A PUT that raises or
            removes it, or that stops tracking, waits for an approval too: answers show the limit in force.
        max_redraws (int | Unset): Redraws of one entry after refused prizes, 0 to 100. Default: 16.
        max_stake (int | None | Unset): Largest stake of an entry in minor units; null: 2^53-1. Example: 1000000000.
        min_stake (int | Unset): Smallest stake of an entry in minor units, at most `max_stake`. Default: 1 if a
            contribution that an entry can use
            is a rate, else 0. With a rate, 0 is refused: such an entry would add nothing and could still win. Example: 0.
        origins (list[str] | Unset): Web origins whose pages may read what is public (CORS), at most 32, each once:
            `scheme://host[:port]` as a browser
            sends it, with `http` or `https`, small letters, and no port that is the scheme's own. Example:
            ['https://games.example'].
        public_meter (bool | Unset): Whether anyone may read the meter without a key. Default: False.
        reverse_by (ReverseBy | Unset): Which keys may cancel rounds.
        reverse_within_s (int | Unset): For how long after an entry its round can be cancelled (`reverse`), in seconds;
            at most the retention of ids. Default: 300. Example: 300.
        room (None | str | Unset): The waiting room of this jackpot: entries need its pass, and batches are refused. The
            room must exist. null:
            none.
        settlement (Settlement | Unset): Whether the service follows payouts until the winner has the money.
        sources (PendingDefinitionSources | Unset): The games, sites or channels that feed the jackpot, by id, at most
            100. With any, each entry must name one as its
            `source_id`. The public form of the definition leaves them out. Example: {'lobby': {}, 'slot-9':
            {'contribution': {'fixed': 2}, 'draw': 'external', 'keys': ['slot-9']}}.
        status (PutStatus | Unset): A status in a definition.
        winners (Winners | Unset): What the public list of winners shows of a player.
    """

    contribution: ContributionFixed | ContributionRatePpm
    currency: str
    id: str
    name: str
    odds: OddsTable
    tiers: list[Tier]
    version: int
    approval_above: int | None | Unset = UNSET
    max_redraws: int | Unset = 16
    max_stake: int | None | Unset = UNSET
    min_stake: int | Unset = UNSET
    origins: list[str] | Unset = UNSET
    public_meter: bool | Unset = False
    reverse_by: ReverseBy | Unset = UNSET
    reverse_within_s: int | Unset = 300
    room: None | str | Unset = UNSET
    settlement: Settlement | Unset = UNSET
    sources: PendingDefinitionSources | Unset = UNSET
    status: PutStatus | Unset = UNSET
    winners: Winners | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.contribution_fixed import ContributionFixed

        contribution: dict[str, Any]
        if isinstance(self.contribution, ContributionFixed):
            contribution = self.contribution.to_dict()
        else:
            contribution = self.contribution.to_dict()

        currency = self.currency

        id = self.id

        name = self.name

        odds = self.odds.to_dict()

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        version = self.version

        approval_above: int | None | Unset
        if isinstance(self.approval_above, Unset):
            approval_above = UNSET
        else:
            approval_above = self.approval_above

        max_redraws = self.max_redraws

        max_stake: int | None | Unset
        if isinstance(self.max_stake, Unset):
            max_stake = UNSET
        else:
            max_stake = self.max_stake

        min_stake = self.min_stake

        origins: list[str] | Unset = UNSET
        if not isinstance(self.origins, Unset):
            origins = self.origins

        public_meter = self.public_meter

        reverse_by: str | Unset = UNSET
        if not isinstance(self.reverse_by, Unset):
            reverse_by = self.reverse_by

        reverse_within_s = self.reverse_within_s

        room: None | str | Unset
        if isinstance(self.room, Unset):
            room = UNSET
        else:
            room = self.room

        settlement: str | Unset = UNSET
        if not isinstance(self.settlement, Unset):
            settlement = self.settlement

        sources: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sources, Unset):
            sources = self.sources.to_dict()

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status

        winners: str | Unset = UNSET
        if not isinstance(self.winners, Unset):
            winners = self.winners

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "contribution": contribution,
                "currency": currency,
                "id": id,
                "name": name,
                "odds": odds,
                "tiers": tiers,
                "version": version,
            }
        )
        if approval_above is not UNSET:
            field_dict["approval_above"] = approval_above
        if max_redraws is not UNSET:
            field_dict["max_redraws"] = max_redraws
        if max_stake is not UNSET:
            field_dict["max_stake"] = max_stake
        if min_stake is not UNSET:
            field_dict["min_stake"] = min_stake
        if origins is not UNSET:
            field_dict["origins"] = origins
        if public_meter is not UNSET:
            field_dict["public_meter"] = public_meter
        if reverse_by is not UNSET:
            field_dict["reverse_by"] = reverse_by
        if reverse_within_s is not UNSET:
            field_dict["reverse_within_s"] = reverse_within_s
        if room is not UNSET:
            field_dict["room"] = room
        if settlement is not UNSET:
            field_dict["settlement"] = settlement
        if sources is not UNSET:
            field_dict["sources"] = sources
        if status is not UNSET:
            field_dict["status"] = status
        if winners is not UNSET:
            field_dict["winners"] = winners

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm
        from ..models.odds_table import OddsTable
        from ..models.pending_definition_sources import PendingDefinitionSources
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

        name = d.pop("name")

        odds = OddsTable.from_dict(d.pop("odds"))

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = Tier.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        version = d.pop("version")

        def _parse_approval_above(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        approval_above = _parse_approval_above(d.pop("approval_above", UNSET))

        max_redraws = d.pop("max_redraws", UNSET)

        def _parse_max_stake(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_stake = _parse_max_stake(d.pop("max_stake", UNSET))

        min_stake = d.pop("min_stake", UNSET)

        origins = cast(list[str], d.pop("origins", UNSET))

        public_meter = d.pop("public_meter", UNSET)

        _reverse_by = d.pop("reverse_by", UNSET)
        reverse_by: ReverseBy | Unset
        if isinstance(_reverse_by, Unset):
            reverse_by = UNSET
        else:
            reverse_by = check_reverse_by(_reverse_by)

        reverse_within_s = d.pop("reverse_within_s", UNSET)

        def _parse_room(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        room = _parse_room(d.pop("room", UNSET))

        _settlement = d.pop("settlement", UNSET)
        settlement: Settlement | Unset
        if isinstance(_settlement, Unset):
            settlement = UNSET
        else:
            settlement = check_settlement(_settlement)

        _sources = d.pop("sources", UNSET)
        sources: PendingDefinitionSources | Unset
        if isinstance(_sources, Unset):
            sources = UNSET
        else:
            sources = PendingDefinitionSources.from_dict(_sources)

        _status = d.pop("status", UNSET)
        status: PutStatus | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = check_put_status(_status)

        _winners = d.pop("winners", UNSET)
        winners: Winners | Unset
        if isinstance(_winners, Unset):
            winners = UNSET
        else:
            winners = check_winners(_winners)

        pending_definition = cls(
            contribution=contribution,
            currency=currency,
            id=id,
            name=name,
            odds=odds,
            tiers=tiers,
            version=version,
            approval_above=approval_above,
            max_redraws=max_redraws,
            max_stake=max_stake,
            min_stake=min_stake,
            origins=origins,
            public_meter=public_meter,
            reverse_by=reverse_by,
            reverse_within_s=reverse_within_s,
            room=room,
            settlement=settlement,
            sources=sources,
            status=status,
            winners=winners,
        )

        return pending_definition
