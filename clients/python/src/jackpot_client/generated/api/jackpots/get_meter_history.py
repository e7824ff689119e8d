from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.get_meter_history_step import (
    GetMeterHistoryStep,
)
from ...models.meter_history import MeterHistory
from ...models.problem import Problem
from ...types import UNSET, Response


def _get_kwargs(
    id: str,
    *,
    tier: str,
    step: GetMeterHistoryStep,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["tier"] = tier

    json_step: str = step
    params["step"] = json_step

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/jackpots/{id}/meter/history".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | MeterHistory | Problem | None:
    if response.status_code == 200:
        response_200 = MeterHistory.from_dict(response.json())

        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

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
) -> Response[Any | MeterHistory | Problem]:
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
    tier: str,
    step: GetMeterHistoryStep,
) -> Response[Any | MeterHistory | Problem]:
    """What a tier's pool held at the end of each minute, hour or day.

     One point for each step since the jackpot was created, at most the last 1,000; the last point is the
    current step. Steps
    in which nothing happened carry the value before them. It follows the ledger; before the ledger has
    the jackpot there
    are no points. Needs no key if the jackpot's `public_meter` is set. Then an answer is at most a
    second old. Without a
    key, a private jackpot and a missing one are both 401. Pages of the definition's `origins` may read
    it.

    Role of the key: `read`.

    Args:
        id (str):
        tier (str):
        step (GetMeterHistoryStep):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | MeterHistory | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        tier=tier,
        step=step,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    tier: str,
    step: GetMeterHistoryStep,
) -> Any | MeterHistory | Problem | None:
    """What a tier's pool held at the end of each minute, hour or day.

     One point for each step since the jackpot was created, at most the last 1,000; the last point is the
    current step. Steps
    in which nothing happened carry the value before them. It follows the ledger; before the ledger has
    the jackpot there
    are no points. Needs no key if the jackpot's `public_meter` is set. Then an answer is at most a
    second old. Without a
    key, a private jackpot and a missing one are both 401. Pages of the definition's `origins` may read
    it.

    Role of the key: `read`.

    Args:
        id (str):
        tier (str):
        step (GetMeterHistoryStep):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | MeterHistory | Problem
    """

    return sync_detailed(
        id=id,
        client=client,
        tier=tier,
        step=step,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    tier: str,
    step: GetMeterHistoryStep,
) -> Response[Any | MeterHistory | Problem]:
    """What a tier's pool held at the end of each minute, hour or day.

     One point for each step since the jackpot was created, at most the last 1,000; the last point is the
    current step. Steps
    in which nothing happened carry the value before them. It follows the ledger; before the ledger has
    the jackpot there
    are no points. Needs no key if the jackpot's `public_meter` is set. Then an answer is at most a
    second old. Without a
    key, a private jackpot and a missing one are both 401. Pages of the definition's `origins` may read
    it.

    Role of the key: `read`.

    Args:
        id (str):
        tier (str):
        step (GetMeterHistoryStep):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | MeterHistory | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        tier=tier,
        step=step,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    tier: str,
    step: GetMeterHistoryStep,
) -> Any | MeterHistory | Problem | None:
    """What a tier's pool held at the end of each minute, hour or day.

     One point for each step since the jackpot was created, at most the last 1,000; the last point is the
    current step. Steps
    in which nothing happened carry the value before them. It follows the ledger; before the ledger has
    the jackpot there
    are no points. Needs no key if the jackpot's `public_meter` is set. Then an answer is at most a
    second old. Without a
    key, a private jackpot and a missing one are both 401. Pages of the definition's `origins` may read
    it.

    Role of the key: `read`.

    Args:
        id (str):
        tier (str):
        step (GetMeterHistoryStep):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | MeterHistory | Problem
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            tier=tier,
            step=step,
        )
    ).parsed
