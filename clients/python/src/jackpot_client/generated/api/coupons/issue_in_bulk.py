from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    id: str,
    *,
    body: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/coupons/{id}/bulk-issues".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["content"] = body.payload
    headers["Content-Type"] = "application/x-ndjson"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | str | None:
    if response.status_code == 200:
        response_200 = cast(str, response.content)
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
) -> Response[Problem | str]:
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
    body: str,
) -> Response[Problem | str]:
    """Issues units to a list of users: each line `{"request_id", "user_id"}` (and `metadata`) has a line
    as its answer, in order, while the
    list is read.

     The answer to a line is the request, as `GET` of its id shows it. It may be a refusal, or a place in
    the queue if
    others are in it. A line that is not a request is answered `refused`, with its number, and the next
    lines go on.
    When something ends the work early, the last line of the answer says `stopped`. It is safe to send
    the same list
    again: decided requests get the same answers, marked `replayed`, and the rest goes on. The audit
    trail has a row
    `bulk-issue` for each list.

    Read the answer while sending, as curl does. Otherwise the service stops reading a list after some
    40,000 lines. It
    stops a client that neither sends nor reads for 15 s, that sends less than 1,024 bytes and 10 lines
    in 30 s of
    waiting, or that takes more than an hour. A key may have 4 uploads at once (429), all keys 16 (503).

    Role of the key: `operate`.

    Args:
        id (str):
        body (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
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
    body: str,
) -> Problem | str | None:
    """Issues units to a list of users: each line `{"request_id", "user_id"}` (and `metadata`) has a line
    as its answer, in order, while the
    list is read.

     The answer to a line is the request, as `GET` of its id shows it. It may be a refusal, or a place in
    the queue if
    others are in it. A line that is not a request is answered `refused`, with its number, and the next
    lines go on.
    When something ends the work early, the last line of the answer says `stopped`. It is safe to send
    the same list
    again: decided requests get the same answers, marked `replayed`, and the rest goes on. The audit
    trail has a row
    `bulk-issue` for each list.

    Read the answer while sending, as curl does. Otherwise the service stops reading a list after some
    40,000 lines. It
    stops a client that neither sends nor reads for 15 s, that sends less than 1,024 bytes and 10 lines
    in 30 s of
    waiting, or that takes more than an hour. A key may have 4 uploads at once (429), all keys 16 (503).

    Role of the key: `operate`.

    Args:
        id (str):
        body (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
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
    body: str,
) -> Response[Problem | str]:
    """Issues units to a list of users: each line `{"request_id", "user_id"}` (and `metadata`) has a line
    as its answer, in order, while the
    list is read.

     The answer to a line is the request, as `GET` of its id shows it. It may be a refusal, or a place in
    the queue if
    others are in it. A line that is not a request is answered `refused`, with its number, and the next
    lines go on.
    When something ends the work early, the last line of the answer says `stopped`. It is safe to send
    the same list
    again: decided requests get the same answers, marked `replayed`, and the rest goes on. The audit
    trail has a row
    `bulk-issue` for each list.

    Read the answer while sending, as curl does. Otherwise the service stops reading a list after some
    40,000 lines. It
    stops a client that neither sends nor reads for 15 s, that sends less than 1,024 bytes and 10 lines
    in 30 s of
    waiting, or that takes more than an hour. A key may have 4 uploads at once (429), all keys 16 (503).

    Role of the key: `operate`.

    Args:
        id (str):
        body (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | str]
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
    body: str,
) -> Problem | str | None:
    """Issues units to a list of users: each line `{"request_id", "user_id"}` (and `metadata`) has a line
    as its answer, in order, while the
    list is read.

     The answer to a line is the request, as `GET` of its id shows it. It may be a refusal, or a place in
    the queue if
    others are in it. A line that is not a request is answered `refused`, with its number, and the next
    lines go on.
    When something ends the work early, the last line of the answer says `stopped`. It is safe to send
    the same list
    again: decided requests get the same answers, marked `replayed`, and the rest goes on. The audit
    trail has a row
    `bulk-issue` for each list.

    Read the answer while sending, as curl does. Otherwise the service stops reading a list after some
    40,000 lines. It
    stops a client that neither sends nor reads for 15 s, that sends less than 1,024 bytes and 10 lines
    in 30 s of
    waiting, or that takes more than an hour. A key may have 4 uploads at once (429), all keys 16 (503).

    Role of the key: `operate`.

    Args:
        id (str):
        body (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | str
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
