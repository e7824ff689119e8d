from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.subscription import Subscription
from ...models.subscription_definition import SubscriptionDefinition
from ...types import Response


def _get_kwargs(
    id: str,
    *,
    body: SubscriptionDefinition,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/subscriptions/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Subscription | None:
    if response.status_code == 200:
        response_200 = Subscription.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = Subscription.from_dict(response.json())

        return response_201

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 431:
        response_431 = Problem.from_dict(response.json())

        return response_431

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | Subscription]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: SubscriptionDefinition,
) -> Response[Problem | Subscription]:
    """Makes a subscription, or changes one.

     Each event goes to the target as a `CloudEvents` object, in order within a subject: to a webhook as
    a signed POST, until it
    answers 2xx; to Kafka or NATS, until the broker acknowledges it.
    A change keeps what was delivered, and the key. `from` counts for subjects that the subscription did
    not have before.

    Role of the key: `operate`.

    Args:
        id (str):
        body (SubscriptionDefinition): A subscription, as a PUT sends it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Subscription]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: SubscriptionDefinition,
) -> Problem | Subscription | None:
    """Makes a subscription, or changes one.

     Each event goes to the target as a `CloudEvents` object, in order within a subject: to a webhook as
    a signed POST, until it
    answers 2xx; to Kafka or NATS, until the broker acknowledges it.
    A change keeps what was delivered, and the key. `from` counts for subjects that the subscription did
    not have before.

    Role of the key: `operate`.

    Args:
        id (str):
        body (SubscriptionDefinition): A subscription, as a PUT sends it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Subscription
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: SubscriptionDefinition,
) -> Response[Problem | Subscription]:
    """Makes a subscription, or changes one.

     Each event goes to the target as a `CloudEvents` object, in order within a subject: to a webhook as
    a signed POST, until it
    answers 2xx; to Kafka or NATS, until the broker acknowledges it.
    A change keeps what was delivered, and the key. `from` counts for subjects that the subscription did
    not have before.

    Role of the key: `operate`.

    Args:
        id (str):
        body (SubscriptionDefinition): A subscription, as a PUT sends it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Subscription]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: SubscriptionDefinition,
) -> Problem | Subscription | None:
    """Makes a subscription, or changes one.

     Each event goes to the target as a `CloudEvents` object, in order within a subject: to a webhook as
    a signed POST, until it
    answers 2xx; to Kafka or NATS, until the broker acknowledges it.
    A change keeps what was delivered, and the key. `from` counts for subjects that the subscription did
    not have before.

    Role of the key: `operate`.

    Args:
        id (str):
        body (SubscriptionDefinition): A subscription, as a PUT sends it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Subscription
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
