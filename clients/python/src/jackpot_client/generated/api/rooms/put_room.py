from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.put_room_if_none_match import (
    PutRoomIfNoneMatch,
)
from ...models.room import Room
from ...models.room_definition import RoomDefinition
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: RoomDefinition,
    if_match: str | Unset = UNSET,
    if_none_match: PutRoomIfNoneMatch | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = str(if_none_match)

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/rooms/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Room | None:
    if response.status_code == 200:
        response_200 = Room.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = Room.from_dict(response.json())

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

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

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
) -> Response[Problem | Room]:
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
    body: RoomDefinition,
    if_match: str | Unset = UNSET,
    if_none_match: PutRoomIfNoneMatch | Unset = UNSET,
) -> Response[Problem | Room]:
    """Creates a room, or changes its definition, which is in force at once.

     A lower capacity ends no session. `opens_at` can be moved until it is reached. Then it can stay or
    become null.

    Role of the key: `operate`.

    Args:
        id (str):
        if_match (str | Unset):
        if_none_match (PutRoomIfNoneMatch | Unset):
        body (RoomDefinition): A room as operators put and read it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Room]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RoomDefinition,
    if_match: str | Unset = UNSET,
    if_none_match: PutRoomIfNoneMatch | Unset = UNSET,
) -> Problem | Room | None:
    """Creates a room, or changes its definition, which is in force at once.

     A lower capacity ends no session. `opens_at` can be moved until it is reached. Then it can stay or
    become null.

    Role of the key: `operate`.

    Args:
        id (str):
        if_match (str | Unset):
        if_none_match (PutRoomIfNoneMatch | Unset):
        body (RoomDefinition): A room as operators put and read it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Room
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RoomDefinition,
    if_match: str | Unset = UNSET,
    if_none_match: PutRoomIfNoneMatch | Unset = UNSET,
) -> Response[Problem | Room]:
    """Creates a room, or changes its definition, which is in force at once.

     A lower capacity ends no session. `opens_at` can be moved until it is reached. Then it can stay or
    become null.

    Role of the key: `operate`.

    Args:
        id (str):
        if_match (str | Unset):
        if_none_match (PutRoomIfNoneMatch | Unset):
        body (RoomDefinition): A room as operators put and read it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Room]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: RoomDefinition,
    if_match: str | Unset = UNSET,
    if_none_match: PutRoomIfNoneMatch | Unset = UNSET,
) -> Problem | Room | None:
    """Creates a room, or changes its definition, which is in force at once.

     A lower capacity ends no session. `opens_at` can be moved until it is reached. Then it can stay or
    become null.

    Role of the key: `operate`.

    Args:
        id (str):
        if_match (str | Unset):
        if_none_match (PutRoomIfNoneMatch | Unset):
        body (RoomDefinition): A room as operators put and read it.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Room
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            if_match=if_match,
            if_none_match=if_none_match,
        )
    ).parsed
