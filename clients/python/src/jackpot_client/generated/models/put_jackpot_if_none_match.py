from typing import Literal

PutJackpotIfNoneMatch = Literal["*"]

PUT_JACKPOT_IF_NONE_MATCH_VALUES: set[PutJackpotIfNoneMatch] = {
    "*",
}


def check_put_jackpot_if_none_match(value: str) -> PutJackpotIfNoneMatch:
    if value in PUT_JACKPOT_IF_NONE_MATCH_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PUT_JACKPOT_IF_NONE_MATCH_VALUES!r}"
    )
