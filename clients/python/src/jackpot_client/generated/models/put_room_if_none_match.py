from typing import Literal

PutRoomIfNoneMatch = Literal["*"]

PUT_ROOM_IF_NONE_MATCH_VALUES: set[PutRoomIfNoneMatch] = {
    "*",
}


def check_put_room_if_none_match(value: str) -> PutRoomIfNoneMatch:
    if value in PUT_ROOM_IF_NONE_MATCH_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PUT_ROOM_IF_NONE_MATCH_VALUES!r}"
    )
