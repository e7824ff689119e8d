from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.outcome import Outcome


T = TypeVar("T", bound="EntryRow")


@_attrs_define
class EntryRow:
    """An entry.

    Attributes:
        definition_version (int): It was drawn under. Example: 3.
        entered_at (datetime.datetime): RFC 3339. Example: 2026-11-21T06:00:00.123Z.
        entry_id (str): As it was sent, or `{batch_id}:{i}`. Example: round-8812-p7.
        epoch (int): It was drawn in. Example: 1.
        event_id (str): The event of the ledger that took it: `<jackpot_id>:<n>`. Example: spring:8820.
        jackpot_id (str): Of which jackpot. Example: spring.
        player_id (str): Of whom. Example: p7.
        sequence (int): Number of the entry in its jackpot, from 1. Example: 8812.
        settled (bool): Whether its outcome is final.
        stake (int): Minor units. Example: 100.
        client_seed (None | str | Unset): The player's own part of the draw.
        outcome (None | Outcome | Unset):
        source_id (None | str | Unset): The game, site or channel that it came from; null if it named none. Example:
            slot-9.
    """

    definition_version: int
    entered_at: datetime.datetime
    entry_id: str
    epoch: int
    event_id: str
    jackpot_id: str
    player_id: str
    sequence: int
    settled: bool
    stake: int
    client_seed: None | str | Unset = UNSET
    outcome: None | Outcome | Unset = UNSET
    source_id: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.outcome import Outcome

        definition_version = self.definition_version

        entered_at = self.entered_at.isoformat()

        entry_id = self.entry_id

        epoch = self.epoch

        event_id = self.event_id

        jackpot_id = self.jackpot_id

        player_id = self.player_id

        sequence = self.sequence

        settled = self.settled

        stake = self.stake

        client_seed: None | str | Unset
        if isinstance(self.client_seed, Unset):
            client_seed = UNSET
        else:
            client_seed = self.client_seed

        outcome: dict[str, Any] | None | Unset
        if isinstance(self.outcome, Unset):
            outcome = UNSET
        elif isinstance(self.outcome, Outcome):
            outcome = self.outcome.to_dict()
        else:
            outcome = self.outcome

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition_version": definition_version,
                "entered_at": entered_at,
                "entry_id": entry_id,
                "epoch": epoch,
                "event_id": event_id,
                "jackpot_id": jackpot_id,
                "player_id": player_id,
                "sequence": sequence,
                "settled": settled,
                "stake": stake,
            }
        )
        if client_seed is not UNSET:
            field_dict["client_seed"] = client_seed
        if outcome is not UNSET:
            field_dict["outcome"] = outcome
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.outcome import Outcome

        d = dict(src_dict)
        definition_version = d.pop("definition_version")

        entered_at = datetime.datetime.fromisoformat(d.pop("entered_at"))

        entry_id = d.pop("entry_id")

        epoch = d.pop("epoch")

        event_id = d.pop("event_id")

        jackpot_id = d.pop("jackpot_id")

        player_id = d.pop("player_id")

        sequence = d.pop("sequence")

        settled = d.pop("settled")

        stake = d.pop("stake")

        def _parse_client_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        client_seed = _parse_client_seed(d.pop("client_seed", UNSET))

        def _parse_outcome(data: object) -> None | Outcome | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                outcome_type_0 = Outcome.from_dict(data)

                return outcome_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Outcome | Unset, data)

        outcome = _parse_outcome(d.pop("outcome", UNSET))

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        entry_row = cls(
            definition_version=definition_version,
            entered_at=entered_at,
            entry_id=entry_id,
            epoch=epoch,
            event_id=event_id,
            jackpot_id=jackpot_id,
            player_id=player_id,
            sequence=sequence,
            settled=settled,
            stake=stake,
            client_seed=client_seed,
            outcome=outcome,
            source_id=source_id,
        )

        entry_row.additional_properties = d
        return entry_row

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
