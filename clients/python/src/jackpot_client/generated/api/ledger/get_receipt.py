from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.receipt import Receipt
from ...types import Response


def _get_kwargs(
    payout_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/payouts/{payout_id}/receipt".format(
            payout_id=quote(str(payout_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Receipt | None:
    if response.status_code == 200:
        response_200 = Receipt.from_dict(response.json())

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
) -> Response[Problem | Receipt]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    payout_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Problem | Receipt]:
    """The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

     The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

    Role of the key: `read` or `approve`.

    Args:
        payout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
    """

    kwargs = _get_kwargs(
        payout_id=payout_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    payout_id: str,
    *,
    client: AuthenticatedClient,
) -> Problem | Receipt | None:
    """The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

     The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

    Role of the key: `read` or `approve`.

    Args:
        payout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
    """

    return sync_detailed(
        payout_id=payout_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    payout_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Problem | Receipt]:
    """The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

     The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

    Role of the key: `read` or `approve`.

    Args:
        payout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
    """

    kwargs = _get_kwargs(
        payout_id=payout_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    payout_id: str,
    *,
    client: AuthenticatedClient,
) -> Problem | Receipt | None:
    """The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

     The receipt of a payout, signed and never changing. A bound key gets 404 for a payout of another
    jackpot.

    Role of the key: `read` or `approve`.

    Args:
        payout_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
    """

    return (
        await asyncio_detailed(
            payout_id=payout_id,
            client=client,
        )
    ).parsed
