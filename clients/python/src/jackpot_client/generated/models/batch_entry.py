from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BatchEntry")


@_attrs_define
class BatchEntry:
    """One play of one player.

    Attributes:
        player_id (str):  Example: p7.
        stake (int): Minor units, 0 to 2^53-1, between the jackpot's `min_stake` and `max_stake`. Example: 100.
        client_seed (None | str | Unset): The player's own input of the draw: null or `[A-Za-z0-9._-]{1,64}`.
        ranks (list[int] | None | Unset): What the game of an external source drew: ranks of the odds table, none twice,
            tried in order; 0 (nothing) only as
            the last. At most `max_redraws` and one. Entries of other sources have none.
        source_id (None | str | Unset): The game, site or channel: one of the jackpot's `sources`, if it has any;
            otherwise it is only recorded.
    """

    player_id: str
    stake: int
    client_seed: None | str | Unset = UNSET
    ranks: list[int] | None | Unset = UNSET
    source_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        player_id = self.player_id

        stake = self.stake

        client_seed: None | str | Unset
        if isinstance(self.client_seed, Unset):
            client_seed = UNSET
        else:
            client_seed = self.client_seed

        ranks: list[int] | None | Unset
        if isinstance(self.ranks, Unset):
            ranks = UNSET
        elif isinstance(self.ranks, list):
            ranks = self.ranks

        else:
            ranks = self.ranks

        source_id: None | str | Unset
        if isinstance(self.source_id, Unset):
            source_id = UNSET
        else:
            source_id = self.source_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "player_id": player_id,
                "stake": stake,
            }
        )
        if client_seed is not UNSET:
            field_dict["client_seed"] = client_seed
        if ranks is not UNSET:
            field_dict["ranks"] = ranks
        if source_id is not UNSET:
            field_dict["source_id"] = source_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        player_id = d.pop("player_id")

        stake = d.pop("stake")

        def _parse_client_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        client_seed = _parse_client_seed(d.pop("client_seed", UNSET))

        def _parse_ranks(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                ranks_type_0 = cast(list[int], data)

                return ranks_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        ranks = _parse_ranks(d.pop("ranks", UNSET))

        def _parse_source_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        source_id = _parse_source_id(d.pop("source_id", UNSET))

        batch_entry = cls(
            player_id=player_id,
            stake=stake,
            client_seed=client_seed,
            ranks=ranks,
            source_id=source_id,
        )

        return batch_entry
