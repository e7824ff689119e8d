from typing import Literal

BulkLineResult = Literal[
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "refused",
    "stopped",
    "voided",
]

BULK_LINE_RESULT_VALUES: set[BulkLineResult] = {
    "already-issued",
    "coupon-closed",
    "dead",
    "issued",
    "not-open",
    "out-of-stock",
    "queued",
    "refused",
    "stopped",
    "voided",
}


def check_bulk_line_result(value: str) -> BulkLineResult:
    if value in BULK_LINE_RESULT_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {BULK_LINE_RESULT_VALUES!r}"
    )
