from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.adjustment import Adjustment
from ...models.problem import Problem
from ...models.reason_body import ReasonBody
from ...types import Response


def _get_kwargs(
    id: str,
    adjustment_id: str,
    *,
    body: ReasonBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/jackpots/{id}/adjustments/{adjustment_id}/approve".format(
            id=quote(str(id), safe=""),
            adjustment_id=quote(str(adjustment_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Adjustment | Problem | None:
    if response.status_code == 200:
        response_200 = Adjustment.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
) -> Response[Adjustment | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    adjustment_id: str,
    *,
    client: AuthenticatedClient,
    body: ReasonBody,
) -> Response[Adjustment | Problem]:
    """Makes an adjustment that waits for a second owner. A repeat changes nothing.

     Needs a key with the role `approve`, of another owner than who asked. What it would do is checked
    again.

    Role of the key: `approve`.

    Args:
        id (str):
        adjustment_id (str):
        body (ReasonBody): A body with only a reason.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Adjustment | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        adjustment_id=adjustment_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    adjustment_id: str,
    *,
    client: AuthenticatedClient,
    body: ReasonBody,
) -> Adjustment | Problem | None:
    """Makes an adjustment that waits for a second owner. A repeat changes nothing.

     Needs a key with the role `approve`, of another owner than who asked. What it would do is checked
    again.

    Role of the key: `approve`.

    Args:
        id (str):
        adjustment_id (str):
        body (ReasonBody): A body with only a reason.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Adjustment | Problem
    """

    return sync_detailed(
        id=id,
        adjustment_id=adjustment_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    adjustment_id: str,
    *,
    client: AuthenticatedClient,
    body: ReasonBody,
) -> Response[Adjustment | Problem]:
    """Makes an adjustment that waits for a second owner. A repeat changes nothing.

     Needs a key with the role `approve`, of another owner than who asked. What it would do is checked
    again.

    Role of the key: `approve`.

    Args:
        id (str):
        adjustment_id (str):
        body (ReasonBody): A body with only a reason.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Adjustment | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        adjustment_id=adjustment_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    adjustment_id: str,
    *,
    client: AuthenticatedClient,
    body: ReasonBody,
) -> Adjustment | Problem | None:
    """Makes an adjustment that waits for a second owner. A repeat changes nothing.

     Needs a key with the role `approve`, of another owner than who asked. What it would do is checked
    again.

    Role of the key: `approve`.

    Args:
        id (str):
        adjustment_id (str):
        body (ReasonBody): A body with only a reason.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Adjustment | Problem
    """

    return (
        await asyncio_detailed(
            id=id,
            adjustment_id=adjustment_id,
            client=client,
            body=body,
        )
    ).parsed
