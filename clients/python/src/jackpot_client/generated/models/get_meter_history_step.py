from typing import Literal

GetMeterHistoryStep = Literal["day", "hour", "minute"]

GET_METER_HISTORY_STEP_VALUES: set[GetMeterHistoryStep] = {
    "day",
    "hour",
    "minute",
}


def check_get_meter_history_step(value: str) -> GetMeterHistoryStep:
    if value in GET_METER_HISTORY_STEP_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {GET_METER_HISTORY_STEP_VALUES!r}"
    )
