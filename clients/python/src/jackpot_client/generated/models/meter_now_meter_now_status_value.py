from typing import Literal

MeterNowMeterNowStatusValue = Literal["closed", "open", "paused", "suspended"]

METER_NOW_METER_NOW_STATUS_VALUE_VALUES: set[MeterNowMeterNowStatusValue] = {
    "closed",
    "open",
    "paused",
    "suspended",
}


def check_meter_now_meter_now_status_value(value: str) -> MeterNowMeterNowStatusValue:
    if value in METER_NOW_METER_NOW_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {METER_NOW_METER_NOW_STATUS_VALUE_VALUES!r}"
    )
