from typing import Literal

EntryOutcomeEntryOutcomePrizeValue = Literal["coupon", "fixed", "none", "pool"]

ENTRY_OUTCOME_ENTRY_OUTCOME_PRIZE_VALUE_VALUES: set[
    EntryOutcomeEntryOutcomePrizeValue
] = {
    "coupon",
    "fixed",
    "none",
    "pool",
}


def check_entry_outcome_entry_outcome_prize_value(
    value: str,
) -> EntryOutcomeEntryOutcomePrizeValue:
    if value in ENTRY_OUTCOME_ENTRY_OUTCOME_PRIZE_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ENTRY_OUTCOME_ENTRY_OUTCOME_PRIZE_VALUE_VALUES!r}"
    )
