from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.already_issued_issue_body import AlreadyIssuedIssueBody
from ...models.issue_body import IssueBody
from ...models.issue_wish import IssueWish
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: IssueWish,
    prefer: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["Prefer"] = prefer

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/coupons/{id}/issues".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AlreadyIssuedIssueBody | IssueBody | Problem | None:
    if response.status_code == 200:
        response_200 = IssueBody.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = IssueBody.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = IssueBody.from_dict(response.json())

        return response_202

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
        response_409 = AlreadyIssuedIssueBody.from_dict(response.json())

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
) -> Response[AlreadyIssuedIssueBody | IssueBody | Problem]:
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
    body: IssueWish,
    prefer: str | Unset = UNSET,
) -> Response[AlreadyIssuedIssueBody | IssueBody | Problem]:
    """Asks for a unit. Safe to repeat with the same id: a refusal is final for its request too.

     With `Prefer: respond-async` the request joins the coupon's queue, which is served strictly in the
    order of arrival.
    While others are in the queue, every request joins it at its end. Without that header it is answered
    when its turn
    has come, or with 202 after `coupons.turn_wait_ms`.

    Role of the key: `play`.

    Args:
        id (str):
        prefer (str | Unset):
        body (IssueWish): One unit for one user.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlreadyIssuedIssueBody | IssueBody | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        prefer=prefer,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: IssueWish,
    prefer: str | Unset = UNSET,
) -> AlreadyIssuedIssueBody | IssueBody | Problem | None:
    """Asks for a unit. Safe to repeat with the same id: a refusal is final for its request too.

     With `Prefer: respond-async` the request joins the coupon's queue, which is served strictly in the
    order of arrival.
    While others are in the queue, every request joins it at its end. Without that header it is answered
    when its turn
    has come, or with 202 after `coupons.turn_wait_ms`.

    Role of the key: `play`.

    Args:
        id (str):
        prefer (str | Unset):
        body (IssueWish): One unit for one user.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlreadyIssuedIssueBody | IssueBody | Problem
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        prefer=prefer,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: IssueWish,
    prefer: str | Unset = UNSET,
) -> Response[AlreadyIssuedIssueBody | IssueBody | Problem]:
    """Asks for a unit. Safe to repeat with the same id: a refusal is final for its request too.

     With `Prefer: respond-async` the request joins the coupon's queue, which is served strictly in the
    order of arrival.
    While others are in the queue, every request joins it at its end. Without that header it is answered
    when its turn
    has come, or with 202 after `coupons.turn_wait_ms`.

    Role of the key: `play`.

    Args:
        id (str):
        prefer (str | Unset):
        body (IssueWish): One unit for one user.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlreadyIssuedIssueBody | IssueBody | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        prefer=prefer,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: IssueWish,
    prefer: str | Unset = UNSET,
) -> AlreadyIssuedIssueBody | IssueBody | Problem | None:
    """Asks for a unit. Safe to repeat with the same id: a refusal is final for its request too.

     With `Prefer: respond-async` the request joins the coupon's queue, which is served strictly in the
    order of arrival.
    While others are in the queue, every request joins it at its end. Without that header it is answered
    when its turn
    has come, or with 202 after `coupons.turn_wait_ms`.

    Role of the key: `play`.

    Args:
        id (str):
        prefer (str | Unset):
        body (IssueWish): One unit for one user.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlreadyIssuedIssueBody | IssueBody | Problem
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            prefer=prefer,
        )
    ).parsed
