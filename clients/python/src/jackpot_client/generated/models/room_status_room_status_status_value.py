from typing import Literal

RoomStatusRoomStatusStatusValue = Literal["collecting", "holding", "open", "suspended"]

ROOM_STATUS_ROOM_STATUS_STATUS_VALUE_VALUES: set[RoomStatusRoomStatusStatusValue] = {
    "collecting",
    "holding",
    "open",
    "suspended",
}


def check_room_status_room_status_status_value(
    value: str,
) -> RoomStatusRoomStatusStatusValue:
    if value in ROOM_STATUS_ROOM_STATUS_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ROOM_STATUS_ROOM_STATUS_STATUS_VALUE_VALUES!r}"
    )
