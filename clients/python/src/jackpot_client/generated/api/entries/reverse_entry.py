from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.reversal import Reversal
from ...models.reversal_body import ReversalBody
from ...types import Response


def _get_kwargs(
    id: str,
    entry_id: str,
    *,
    body: ReversalBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/jackpots/{id}/entries/{entry_id}/reverse".format(
            id=quote(str(id), safe=""),
            entry_id=quote(str(entry_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Reversal | None:
    if response.status_code == 200:
        response_200 = Reversal.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = Reversal.from_dict(response.json())

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
) -> Response[Problem | Reversal]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    entry_id: str,
    *,
    client: AuthenticatedClient,
    body: ReversalBody,
) -> Response[Problem | Reversal]:
    """Takes the contribution of an entry back, because the game cancelled its round. Once for each entry.

     Each tier gives the exact contribution back: the pool's share out of the pool, then the overflow,
    and the reserve's
    share out of the reserve. What it does not hold any more, or what a take of all has won since, is
    `uncovered` and
    counts as funded. Works on a jackpot of any status. An entry of a batch is reversed by its derived
    id. Needs a key that
    may send entries of the entry's source, or, with `reverse_by` `operate`, one with the role operate.

    A reversal of an entry that is not there is 404 and remembered for as long as ids are: an entry of
    that id that comes
    later is 409 `entry-reversed` and counts nothing, if the key may send entries of its source.

    Role of the key: `play` or `operate`.

    Args:
        id (str):
        entry_id (str):
        body (ReversalBody): The cancellation of a round.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Reversal]
    """

    kwargs = _get_kwargs(
        id=id,
        entry_id=entry_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    entry_id: str,
    *,
    client: AuthenticatedClient,
    body: ReversalBody,
) -> Problem | Reversal | None:
    """Takes the contribution of an entry back, because the game cancelled its round. Once for each entry.

     Each tier gives the exact contribution back: the pool's share out of the pool, then the overflow,
    and the reserve's
    share out of the reserve. What it does not hold any more, or what a take of all has won since, is
    `uncovered` and
    counts as funded. Works on a jackpot of any status. An entry of a batch is reversed by its derived
    id. Needs a key that
    may send entries of the entry's source, or, with `reverse_by` `operate`, one with the role operate.

    A reversal of an entry that is not there is 404 and remembered for as long as ids are: an entry of
    that id that comes
    later is 409 `entry-reversed` and counts nothing, if the key may send entries of its source.

    Role of the key: `play` or `operate`.

    Args:
        id (str):
        entry_id (str):
        body (ReversalBody): The cancellation of a round.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Reversal
    """

    return sync_detailed(
        id=id,
        entry_id=entry_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    entry_id: str,
    *,
    client: AuthenticatedClient,
    body: ReversalBody,
) -> Response[Problem | Reversal]:
    """Takes the contribution of an entry back, because the game cancelled its round. Once for each entry.

     Each tier gives the exact contribution back: the pool's share out of the pool, then the overflow,
    and the reserve's
    share out of the reserve. What it does not hold any more, or what a take of all has won since, is
    `uncovered` and
    counts as funded. Works on a jackpot of any status. An entry of a batch is reversed by its derived
    id. Needs a key that
    may send entries of the entry's source, or, with `reverse_by` `operate`, one with the role operate.

    A reversal of an entry that is not there is 404 and remembered for as long as ids are: an entry of
    that id that comes
    later is 409 `entry-reversed` and counts nothing, if the key may send entries of its source.

    Role of the key: `play` or `operate`.

    Args:
        id (str):
        entry_id (str):
        body (ReversalBody): The cancellation of a round.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Reversal]
    """

    kwargs = _get_kwargs(
        id=id,
        entry_id=entry_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    entry_id: str,
    *,
    client: AuthenticatedClient,
    body: ReversalBody,
) -> Problem | Reversal | None:
    """Takes the contribution of an entry back, because the game cancelled its round. Once for each entry.

     Each tier gives the exact contribution back: the pool's share out of the pool, then the overflow,
    and the reserve's
    share out of the reserve. What it does not hold any more, or what a take of all has won since, is
    `uncovered` and
    counts as funded. Works on a jackpot of any status. An entry of a batch is reversed by its derived
    id. Needs a key that
    may send entries of the entry's source, or, with `reverse_by` `operate`, one with the role operate.

    A reversal of an entry that is not there is 404 and remembered for as long as ids are: an entry of
    that id that comes
    later is 409 `entry-reversed` and counts nothing, if the key may send entries of its source.

    Role of the key: `play` or `operate`.

    Args:
        id (str):
        entry_id (str):
        body (ReversalBody): The cancellation of a round.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Reversal
    """

    return (
        await asyncio_detailed(
            id=id,
            entry_id=entry_id,
            client=client,
            body=body,
        )
    ).parsed
