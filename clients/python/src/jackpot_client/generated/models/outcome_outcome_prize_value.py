from typing import Literal

OutcomeOutcomePrizeValue = Literal["coupon", "fixed", "none", "pool"]

OUTCOME_OUTCOME_PRIZE_VALUE_VALUES: set[OutcomeOutcomePrizeValue] = {
    "coupon",
    "fixed",
    "none",
    "pool",
}


def check_outcome_outcome_prize_value(value: str) -> OutcomeOutcomePrizeValue:
    if value in OUTCOME_OUTCOME_PRIZE_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {OUTCOME_OUTCOME_PRIZE_VALUE_VALUES!r}"
    )
