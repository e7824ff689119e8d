from typing import Literal

TicketBodyTicketBodyStatusValue = Literal[
    "abandoned", "admitted", "expired", "left", "waiting"
]

TICKET_BODY_TICKET_BODY_STATUS_VALUE_VALUES: set[TicketBodyTicketBodyStatusValue] = {
    "abandoned",
    "admitted",
    "expired",
    "left",
    "waiting",
}


def check_ticket_body_ticket_body_status_value(
    value: str,
) -> TicketBodyTicketBodyStatusValue:
    if value in TICKET_BODY_TICKET_BODY_STATUS_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {TICKET_BODY_TICKET_BODY_STATUS_VALUE_VALUES!r}"
    )
