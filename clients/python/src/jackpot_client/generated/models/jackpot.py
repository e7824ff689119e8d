from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.jackpot_status import JackpotStatus, check_jackpot_status
from ..models.reverse_by import ReverseBy, check_reverse_by
from ..models.settlement import Settlement, check_settlement
from ..models.winners import Winners, check_winners
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.contribution_fixed import ContributionFixed
    from ..models.contribution_rate_ppm import ContributionRatePpm
    from ..models.jackpot_sources import JackpotSources
    from ..models.meter_body import MeterBody
    from ..models.odds_table import OddsTable
    from ..models.pending_definition import PendingDefinition
    from ..models.source_meters import SourceMeters
    from ..models.stopped import Stopped
    from ..models.tier import Tier


T = TypeVar("T", bound="Jackpot")


@_attrs_define
class Jackpot:
    """A jackpot: its definition, status and meters. The fields of the definition are repeated here: its `status` and
    `min_stake` are others in a definition.

        Attributes:
            contribution (ContributionFixed | ContributionRatePpm): What an entry adds to the tiers, before their shares.
            currency (str):  Example: KRW.
            id (str):  Example: spring.
            max_redraws (int):
            meters (list[MeterBody]):
            min_stake (int):
            name (str):  Example: Spring wheel.
            odds (OddsTable): The odds table.
            origins (list[str]):
            public_meter (bool):
            reverse_by (ReverseBy): Which keys may cancel rounds.
            reverse_within_s (int):  Example: 300.
            settlement (Settlement): Whether the service follows payouts until the winner has the money.
            sources (JackpotSources): The games, sites or channels that feed it.
            status (JackpotStatus): Whether a jackpot takes entries.
            tiers (list[Tier]):
            version (int): Version of the definition in force. Example: 3.
            winners (Winners): What the public list of winners shows of a player.
            approval_above (int | None | Unset): As in force: an amount that a PUT raised or removed comes into force with
                its approval.
            max_stake (int | None | Unset):
            pending (None | PendingDefinition | Unset):
            room (None | str | Unset):
            source (SourceMeters | Unset): What a source has brought and won.
            stopped (None | Stopped | Unset):
    """

    contribution: ContributionFixed | ContributionRatePpm
    currency: str
    id: str
    max_redraws: int
    meters: list[MeterBody]
    min_stake: int
    name: str
    odds: OddsTable
    origins: list[str]
    public_meter: bool
    reverse_by: ReverseBy
    reverse_within_s: int
    settlement: Settlement
    sources: JackpotSources
    status: JackpotStatus
    tiers: list[Tier]
    version: int
    winners: Winners
    approval_above: int | None | Unset = UNSET
    max_stake: int | None | Unset = UNSET
    pending: None | PendingDefinition | Unset = UNSET
    room: None | str | Unset = UNSET
    source: SourceMeters | Unset = UNSET
    stopped: None | Stopped | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.pending_definition import PendingDefinition
        from ..models.stopped import Stopped

        contribution: dict[str, Any]
        if isinstance(self.contribution, ContributionFixed):
            contribution = self.contribution.to_dict()
        else:
            contribution = self.contribution.to_dict()

        currency = self.currency

        id = self.id

        max_redraws = self.max_redraws

        meters = []
        for meters_item_data in self.meters:
            meters_item = meters_item_data.to_dict()
            meters.append(meters_item)

        min_stake = self.min_stake

        name = self.name

        odds = self.odds.to_dict()

        origins = self.origins

        public_meter = self.public_meter

        reverse_by: str = self.reverse_by

        reverse_within_s = self.reverse_within_s

        settlement: str = self.settlement

        sources = self.sources.to_dict()

        status: str = self.status

        tiers = []
        for tiers_item_data in self.tiers:
            tiers_item = tiers_item_data.to_dict()
            tiers.append(tiers_item)

        version = self.version

        winners: str = self.winners

        approval_above: int | None | Unset
        if isinstance(self.approval_above, Unset):
            approval_above = UNSET
        else:
            approval_above = self.approval_above

        max_stake: int | None | Unset
        if isinstance(self.max_stake, Unset):
            max_stake = UNSET
        else:
            max_stake = self.max_stake

        pending: dict[str, Any] | None | Unset
        if isinstance(self.pending, Unset):
            pending = UNSET
        elif isinstance(self.pending, PendingDefinition):
            pending = self.pending.to_dict()
        else:
            pending = self.pending

        room: None | str | Unset
        if isinstance(self.room, Unset):
            room = UNSET
        else:
            room = self.room

        source: dict[str, Any] | Unset = UNSET
        if not isinstance(self.source, Unset):
            source = self.source.to_dict()

        stopped: dict[str, Any] | None | Unset
        if isinstance(self.stopped, Unset):
            stopped = UNSET
        elif isinstance(self.stopped, Stopped):
            stopped = self.stopped.to_dict()
        else:
            stopped = self.stopped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "contribution": contribution,
                "currency": currency,
                "id": id,
                "max_redraws": max_redraws,
                "meters": meters,
                "min_stake": min_stake,
                "name": name,
                "odds": odds,
                "origins": origins,
                "public_meter": public_meter,
                "reverse_by": reverse_by,
                "reverse_within_s": reverse_within_s,
                "settlement": settlement,
                "sources": sources,
                "status": status,
                "tiers": tiers,
                "version": version,
                "winners": winners,
            }
        )
        if approval_above is not UNSET:
            field_dict["approval_above"] = approval_above
        if max_stake is not UNSET:
            field_dict["max_stake"] = max_stake
        if pending is not UNSET:
            field_dict["pending"] = pending
        if room is not UNSET:
            field_dict["room"] = room
        if source is not UNSET:
            field_dict["source"] = source
        if stopped is not UNSET:
            field_dict["stopped"] = stopped

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.contribution_fixed import ContributionFixed
        from ..models.contribution_rate_ppm import ContributionRatePpm
        from ..models.jackpot_sources import JackpotSources
        from ..models.meter_body import MeterBody
        from ..models.odds_table import OddsTable
        from ..models.pending_definition import PendingDefinition
        from ..models.source_meters import SourceMeters
        from ..models.stopped import Stopped
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

        meters = []
        _meters = d.pop("meters")
        for meters_item_data in _meters:
            meters_item = MeterBody.from_dict(meters_item_data)

            meters.append(meters_item)

        min_stake = d.pop("min_stake")

        name = d.pop("name")

        odds = OddsTable.from_dict(d.pop("odds"))

        origins = cast(list[str], d.pop("origins"))

        public_meter = d.pop("public_meter")

        reverse_by = check_reverse_by(d.pop("reverse_by"))

        reverse_within_s = d.pop("reverse_within_s")

        settlement = check_settlement(d.pop("settlement"))

        sources = JackpotSources.from_dict(d.pop("sources"))

        status = check_jackpot_status(d.pop("status"))

        tiers = []
        _tiers = d.pop("tiers")
        for tiers_item_data in _tiers:
            tiers_item = Tier.from_dict(tiers_item_data)

            tiers.append(tiers_item)

        version = d.pop("version")

        winners = check_winners(d.pop("winners"))

        def _parse_approval_above(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        approval_above = _parse_approval_above(d.pop("approval_above", UNSET))

        def _parse_max_stake(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_stake = _parse_max_stake(d.pop("max_stake", UNSET))

        def _parse_pending(data: object) -> None | PendingDefinition | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                pending_type_0 = PendingDefinition.from_dict(data)

                return pending_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PendingDefinition | Unset, data)

        pending = _parse_pending(d.pop("pending", UNSET))

        def _parse_room(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        room = _parse_room(d.pop("room", UNSET))

        _source = d.pop("source", UNSET)
        source: SourceMeters | Unset
        if isinstance(_source, Unset):
            source = UNSET
        else:
            source = SourceMeters.from_dict(_source)

        def _parse_stopped(data: object) -> None | Stopped | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stopped_type_0 = Stopped.from_dict(data)

                return stopped_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Stopped | Unset, data)

        stopped = _parse_stopped(d.pop("stopped", UNSET))

        jackpot = cls(
            contribution=contribution,
            currency=currency,
            id=id,
            max_redraws=max_redraws,
            meters=meters,
            min_stake=min_stake,
            name=name,
            odds=odds,
            origins=origins,
            public_meter=public_meter,
            reverse_by=reverse_by,
            reverse_within_s=reverse_within_s,
            settlement=settlement,
            sources=sources,
            status=status,
            tiers=tiers,
            version=version,
            winners=winners,
            approval_above=approval_above,
            max_stake=max_stake,
            pending=pending,
            room=room,
            source=source,
            stopped=stopped,
        )

        jackpot.additional_properties = d
        return jackpot

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
