from typing import Literal

VoidReceiptVoidReceiptKindValue = Literal["void"]

VOID_RECEIPT_VOID_RECEIPT_KIND_VALUE_VALUES: set[VoidReceiptVoidReceiptKindValue] = {
    "void",
}


def check_void_receipt_void_receipt_kind_value(
    value: str,
) -> VoidReceiptVoidReceiptKindValue:
    if value in VOID_RECEIPT_VOID_RECEIPT_KIND_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {VOID_RECEIPT_VOID_RECEIPT_KIND_VALUE_VALUES!r}"
    )
