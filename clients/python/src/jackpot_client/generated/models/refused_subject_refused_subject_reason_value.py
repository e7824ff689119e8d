from typing import Literal

RefusedSubjectRefusedSubjectReasonValue = Literal[
    "backlog", "ledger-stopped", "lost", "suspended"
]

REFUSED_SUBJECT_REFUSED_SUBJECT_REASON_VALUE_VALUES: set[
    RefusedSubjectRefusedSubjectReasonValue
] = {
    "backlog",
    "ledger-stopped",
    "lost",
    "suspended",
}


def check_refused_subject_refused_subject_reason_value(
    value: str,
) -> RefusedSubjectRefusedSubjectReasonValue:
    if value in REFUSED_SUBJECT_REFUSED_SUBJECT_REASON_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REFUSED_SUBJECT_REFUSED_SUBJECT_REASON_VALUE_VALUES!r}"
    )
