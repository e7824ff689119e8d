from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PlayBody")


@_attrs_define
class PlayBody:
    """One play of one player, an entry of each of these jackpots.

    Attributes:
        entry_id (str): Chosen by the game: the id of the entry in each jackpot. The same id is the same entry, for at
            least the retention. Example: round-8812-p7.
        jackpots (list[str]): The jackpots, 1 to 16, each once. Example: ['mini-7', 'network'].
        player_id (str):  Example: p7.
        stake (int): Minor units, 0 to 2^53-1, between `min_stake` and `max_stake` of each jackpot. Example: 100.
        client_seed (None | str | Unset): The player's own input of each draw: null or `[A-Za-z0-9._-]{1,64}`.
        currency (None | str | Unset): Currency of the stake. A jackpot of another currency refuses its entry. null:
            that of each jackpot. Example: KRW.
        source_id (None | str | Unset): The game, site or channel, as in an entry of each jackpot.
    """

    entry_id: str
    jackpots: list[str]
    player_id: str
    stake: int
    client_seed: None | str | Unset = UNSET
    currency: None | str | Unset = UNSET
    source_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        entry_id = self.entry_id

        jackpots = self.jackpots

        player_id = self.player_id

        stake = self.stake

        client_seed: None | str | Unset
        if isinstance(self.client_seed, Unset):
            client_seed = UNSET
        else:
            client_seed = self.client_seed

        currency: None | str | Unset
        if isinstance(self.currency, Unset):
            currency = UNSET
        else:
            currency = self.currency

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "entry_id": entry_id,
                "jackpots": jackpots,
                "player_id": player_id,
                "stake": stake,
            }
        )
        if client_seed is not UNSET:
            field_dict["client_seed"] = client_seed
        if currency is not UNSET:
            field_dict["currency"] = currency
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        entry_id = d.pop("entry_id")

        jackpots = cast(list[str], d.pop("jackpots"))

        player_id = d.pop("player_id")

        stake = d.pop("stake")

        def _parse_client_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        client_seed = _parse_client_seed(d.pop("client_seed", UNSET))

        def _parse_currency(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        currency = _parse_currency(d.pop("currency", UNSET))

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        play_body = cls(
            entry_id=entry_id,
            jackpots=jackpots,
            player_id=player_id,
            stake=stake,
            client_seed=client_seed,
            currency=currency,
            source_id=source_id,
        )

        return play_body
