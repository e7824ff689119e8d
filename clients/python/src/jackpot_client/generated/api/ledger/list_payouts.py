import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.page_body_listed_payout import PageBodyListedPayout
from ...models.payout_state import PayoutState
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    jackpot_id: str | Unset = UNSET,
    payout_id: str | Unset = UNSET,
    entry_id: str | Unset = UNSET,
    player_id: str | Unset = UNSET,
    tier: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    state: PayoutState | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    min_amount: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["jackpot_id"] = jackpot_id

    params["payout_id"] = payout_id

    params["entry_id"] = entry_id

    params["player_id"] = player_id

    params["tier"] = tier

    params["source_id"] = source_id

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    params["min_amount"] = min_amount

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/payouts",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PageBodyListedPayout | Problem | None:
    if response.status_code == 200:
        response_200 = PageBodyListedPayout.from_dict(response.json())

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
) -> Response[PageBodyListedPayout | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    jackpot_id: str | Unset = UNSET,
    payout_id: str | Unset = UNSET,
    entry_id: str | Unset = UNSET,
    player_id: str | Unset = UNSET,
    tier: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    state: PayoutState | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    min_amount: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[PageBodyListedPayout | Problem]:
    """Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

     Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

    Role of the key: `read` or `approve`.

    Args:
        jackpot_id (str | Unset):
        payout_id (str | Unset):
        entry_id (str | Unset):
        player_id (str | Unset):
        tier (str | Unset):
        source_id (str | Unset):
        state (PayoutState | Unset): Where a payout is.
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        min_amount (int | Unset):
        limit (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PageBodyListedPayout | Problem]
    """

    kwargs = _get_kwargs(
        jackpot_id=jackpot_id,
        payout_id=payout_id,
        entry_id=entry_id,
        player_id=player_id,
        tier=tier,
        source_id=source_id,
        state=state,
        from_=from_,
        to=to,
        min_amount=min_amount,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    jackpot_id: str | Unset = UNSET,
    payout_id: str | Unset = UNSET,
    entry_id: str | Unset = UNSET,
    player_id: str | Unset = UNSET,
    tier: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    state: PayoutState | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    min_amount: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> PageBodyListedPayout | Problem | None:
    """Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

     Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

    Role of the key: `read` or `approve`.

    Args:
        jackpot_id (str | Unset):
        payout_id (str | Unset):
        entry_id (str | Unset):
        player_id (str | Unset):
        tier (str | Unset):
        source_id (str | Unset):
        state (PayoutState | Unset): Where a payout is.
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        min_amount (int | Unset):
        limit (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PageBodyListedPayout | Problem
    """

    return sync_detailed(
        client=client,
        jackpot_id=jackpot_id,
        payout_id=payout_id,
        entry_id=entry_id,
        player_id=player_id,
        tier=tier,
        source_id=source_id,
        state=state,
        from_=from_,
        to=to,
        min_amount=min_amount,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    jackpot_id: str | Unset = UNSET,
    payout_id: str | Unset = UNSET,
    entry_id: str | Unset = UNSET,
    player_id: str | Unset = UNSET,
    tier: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    state: PayoutState | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    min_amount: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[PageBodyListedPayout | Problem]:
    """Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

     Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

    Role of the key: `read` or `approve`.

    Args:
        jackpot_id (str | Unset):
        payout_id (str | Unset):
        entry_id (str | Unset):
        player_id (str | Unset):
        tier (str | Unset):
        source_id (str | Unset):
        state (PayoutState | Unset): Where a payout is.
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        min_amount (int | Unset):
        limit (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PageBodyListedPayout | Problem]
    """

    kwargs = _get_kwargs(
        jackpot_id=jackpot_id,
        payout_id=payout_id,
        entry_id=entry_id,
        player_id=player_id,
        tier=tier,
        source_id=source_id,
        state=state,
        from_=from_,
        to=to,
        min_amount=min_amount,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    jackpot_id: str | Unset = UNSET,
    payout_id: str | Unset = UNSET,
    entry_id: str | Unset = UNSET,
    player_id: str | Unset = UNSET,
    tier: str | Unset = UNSET,
    source_id: str | Unset = UNSET,
    state: PayoutState | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    min_amount: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> PageBodyListedPayout | Problem | None:
    """Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

     Payouts, the newest first: whole receipts, and beside each what its signature leaves out. A bound
    key sees the payouts of its own jackpots.

    Role of the key: `read` or `approve`.

    Args:
        jackpot_id (str | Unset):
        payout_id (str | Unset):
        entry_id (str | Unset):
        player_id (str | Unset):
        tier (str | Unset):
        source_id (str | Unset):
        state (PayoutState | Unset): Where a payout is.
        from_ (datetime.datetime | Unset):
        to (datetime.datetime | Unset):
        min_amount (int | Unset):
        limit (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PageBodyListedPayout | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            jackpot_id=jackpot_id,
            payout_id=payout_id,
            entry_id=entry_id,
            player_id=player_id,
            tier=tier,
            source_id=source_id,
            state=state,
            from_=from_,
            to=to,
            min_amount=min_amount,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
