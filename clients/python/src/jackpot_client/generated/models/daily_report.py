from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.daily_source import DailySource
    from ..models.daily_tier import DailyTier


T = TypeVar("T", bound="DailyReport")


@_attrs_define
class DailyReport:
    """A daily report.

    Attributes:
        complete (bool): Whether the day is over and the ledger has all of its events. False too while Redis does not
            answer.
        date (datetime.date):  Example: 2026-11-21.
        rows (list[DailySource | DailyTier]): By jackpot: its tiers, then its sources. A jackpot has no rows before the
            day of its creation.
    """

    complete: bool
    date: datetime.date
    rows: list[DailySource | DailyTier]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.daily_tier import DailyTier

        complete = self.complete

        date = self.date.isoformat()

        rows = []
        for rows_item_data in self.rows:
            rows_item: dict[str, Any]
            if isinstance(rows_item_data, DailyTier):
                rows_item = rows_item_data.to_dict()
            else:
                rows_item = rows_item_data.to_dict()

            rows.append(rows_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "complete": complete,
                "date": date,
                "rows": rows,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.daily_source import DailySource
        from ..models.daily_tier import DailyTier

        d = dict(src_dict)
        complete = d.pop("complete")

        date = datetime.date.fromisoformat(d.pop("date"))

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:

            def _parse_rows_item(data: object) -> DailySource | DailyTier:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    componentsschemas_daily_row_type_0 = DailyTier.from_dict(data)

                    return componentsschemas_daily_row_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_daily_row_type_1 = DailySource.from_dict(data)

                return componentsschemas_daily_row_type_1

            rows_item = _parse_rows_item(rows_item_data)

            rows.append(rows_item)

        daily_report = cls(
            complete=complete,
            date=date,
            rows=rows,
        )

        daily_report.additional_properties = d
        return daily_report

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
