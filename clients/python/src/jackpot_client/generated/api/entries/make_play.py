from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.play_answer import PlayAnswer
from ...models.play_body import PlayBody
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: PlayBody,
    x_room_pass: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_room_pass, Unset):
        headers["X-Room-Pass"] = x_room_pass

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/entries",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PlayAnswer | Problem | None:
    if response.status_code == 200:
        response_200 = PlayAnswer.from_dict(response.json())

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

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

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
) -> Response[PlayAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: PlayBody,
    x_room_pass: str | Unset = UNSET,
) -> Response[PlayAnswer | Problem]:
    """Takes one play as an entry of each of 1 to 16 jackpots. Safe to repeat with the same id: a repeat
    completes what was
    refused or did not answer, and changes nothing else.

     Each item is exactly an entry of its jackpot. A jackpot that refuses, or does not answer, delays no
    other entry. The
    call counts once against the limit of its key.

    Role of the key: `play`.

    Args:
        x_room_pass (str | Unset):
        body (PlayBody): One play of one player, an entry of each of these jackpots.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlayAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        x_room_pass=x_room_pass,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: PlayBody,
    x_room_pass: str | Unset = UNSET,
) -> PlayAnswer | Problem | None:
    """Takes one play as an entry of each of 1 to 16 jackpots. Safe to repeat with the same id: a repeat
    completes what was
    refused or did not answer, and changes nothing else.

     Each item is exactly an entry of its jackpot. A jackpot that refuses, or does not answer, delays no
    other entry. The
    call counts once against the limit of its key.

    Role of the key: `play`.

    Args:
        x_room_pass (str | Unset):
        body (PlayBody): One play of one player, an entry of each of these jackpots.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlayAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        x_room_pass=x_room_pass,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: PlayBody,
    x_room_pass: str | Unset = UNSET,
) -> Response[PlayAnswer | Problem]:
    """Takes one play as an entry of each of 1 to 16 jackpots. Safe to repeat with the same id: a repeat
    completes what was
    refused or did not answer, and changes nothing else.

     Each item is exactly an entry of its jackpot. A jackpot that refuses, or does not answer, delays no
    other entry. The
    call counts once against the limit of its key.

    Role of the key: `play`.

    Args:
        x_room_pass (str | Unset):
        body (PlayBody): One play of one player, an entry of each of these jackpots.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlayAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
        x_room_pass=x_room_pass,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: PlayBody,
    x_room_pass: str | Unset = UNSET,
) -> PlayAnswer | Problem | None:
    """Takes one play as an entry of each of 1 to 16 jackpots. Safe to repeat with the same id: a repeat
    completes what was
    refused or did not answer, and changes nothing else.

     Each item is exactly an entry of its jackpot. A jackpot that refuses, or does not answer, delays no
    other entry. The
    call counts once against the limit of its key.

    Role of the key: `play`.

    Args:
        x_room_pass (str | Unset):
        body (PlayBody): One play of one player, an entry of each of these jackpots.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlayAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            x_room_pass=x_room_pass,
        )
    ).parsed
