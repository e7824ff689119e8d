from typing import Literal

SubscriptionSubscriptionStateValue = Literal[
    "disabled", "paused", "retrying", "running"
]

SUBSCRIPTION_SUBSCRIPTION_STATE_VALUE_VALUES: set[
    SubscriptionSubscriptionStateValue
] = {
    "disabled",
    "paused",
    "retrying",
    "running",
}


def check_subscription_subscription_state_value(
    value: str,
) -> SubscriptionSubscriptionStateValue:
    if value in SUBSCRIPTION_SUBSCRIPTION_STATE_VALUE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SUBSCRIPTION_SUBSCRIPTION_STATE_VALUE_VALUES!r}"
    )
