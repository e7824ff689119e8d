from typing import Literal

SubscriptionState = Literal["disabled", "paused", "retrying", "running"]

SUBSCRIPTION_STATE_VALUES: set[SubscriptionState] = {
    "disabled",
    "paused",
    "retrying",
    "running",
}


def check_subscription_state(value: str) -> SubscriptionState:
    if value in SUBSCRIPTION_STATE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SUBSCRIPTION_STATE_VALUES!r}"
    )
