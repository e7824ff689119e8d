from typing import Literal

AuditRowAuditRowActionValue = Literal[
    "adjust",
    "approve",
    "approve-adjustment",
    "approve-limit",
    "approve-transfer",
    "bulk-issue",
    "close",
    "define",
    "delete",
    "emergency-start",
    "emergency-stop",
    "fail",
    "hold-adjustment",
    "hold-transfer",
    "pause",
    "redrive",
    "replay",
    "restore",
    "resume",
    "reverse",
    "rotate",
    "settle",
    "skip",
    "suspend",
    "transfer",
    "void",
    "void-request",
    "withdraw",
    "withdraw-adjustment",
    "withdraw-transfer",
]

AUDIT_ROW_AUDIT_ROW_ACTION_VALUE_VALUES: set[AuditRowAuditRowActionValue] = {
    "adjust",
    "approve",
    "approve-adjustment",
    "approve-limit",
    "approve-transfer",
    "bulk-issue",
    "close",
    "define",
    "delete",
    "emergency-start",
    "emergency-stop",
    "fail",
    "hold-adjustment",
    "hold-transfer",
    "pause",
    "redrive",
    "replay",
    "restore",
    "resume",
    "reverse",
    "rotate",
    "settle",
    "skip",
    "suspend",
    "transfer",
    "void",
    "void-request",
    "withdraw",
    "withdraw-adjustment",
    "withdraw-transfer",
}


def check_audit_row_audit_row_action_value(value: str) -> AuditRowAuditRowActionValue:
    if value in AUDIT_ROW_AUDIT_ROW_ACTION_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {AUDIT_ROW_AUDIT_ROW_ACTION_VALUE_VALUES!r}"
    )
