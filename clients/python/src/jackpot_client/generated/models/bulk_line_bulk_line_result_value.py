from typing import Literal

BulkLineBulkLineResultValue = Literal[
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

BULK_LINE_BULK_LINE_RESULT_VALUE_VALUES: set[BulkLineBulkLineResultValue] = {
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


def check_bulk_line_bulk_line_result_value(value: str) -> BulkLineBulkLineResultValue:
    if value in BULK_LINE_BULK_LINE_RESULT_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {BULK_LINE_BULK_LINE_RESULT_VALUE_VALUES!r}"
    )
