from typing import Literal

RoomRoomStatusValue = Literal["open", "suspended"]

ROOM_ROOM_STATUS_VALUE_VALUES: set[RoomRoomStatusValue] = {
    "open",
    "suspended",
}


def check_room_room_status_value(value: str) -> RoomRoomStatusValue:
    if value in ROOM_ROOM_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ROOM_ROOM_STATUS_VALUE_VALUES!r}"
    )
