from typing import Literal

RoomState = Literal["open", "suspended"]

ROOM_STATE_VALUES: set[RoomState] = {
    "open",
    "suspended",
}


def check_room_state(value: str) -> RoomState:
    if value in ROOM_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ROOM_STATE_VALUES!r}"
    )
