from typing import Literal

MeterName = Literal["overflow", "pool", "reserve"]

METER_NAME_VALUES: set[MeterName] = {
    "overflow",
    "pool",
    "reserve",
}


def check_meter_name(value: str) -> MeterName:
    if value in METER_NAME_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {METER_NAME_VALUES!r}"
    )
