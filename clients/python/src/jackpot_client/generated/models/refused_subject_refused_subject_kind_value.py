from typing import Literal

RefusedSubjectRefusedSubjectKindValue = Literal["coupon", "jackpot", "room"]

REFUSED_SUBJECT_REFUSED_SUBJECT_KIND_VALUE_VALUES: set[
    RefusedSubjectRefusedSubjectKindValue
] = {
    "coupon",
    "jackpot",
    "room",
}


def check_refused_subject_refused_subject_kind_value(
    value: str,
) -> RefusedSubjectRefusedSubjectKindValue:
    if value in REFUSED_SUBJECT_REFUSED_SUBJECT_KIND_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REFUSED_SUBJECT_REFUSED_SUBJECT_KIND_VALUE_VALUES!r}"
    )
