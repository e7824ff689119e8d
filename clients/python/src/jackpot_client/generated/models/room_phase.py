from typing import Literal

RoomPhase = Literal["collecting", "holding", "open", "suspended"]

ROOM_PHASE_VALUES: set[RoomPhase] = {
    "collecting",
    "holding",
    "open",
    "suspended",
}


def check_room_phase(value: str) -> RoomPhase:
    if value in ROOM_PHASE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ROOM_PHASE_VALUES!r}"
    )
