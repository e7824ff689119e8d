from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    token: str | Unset = UNSET,
    place: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["token"] = token

    params["place"] = place

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/rooms/{id}/wait".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | str | None:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if response.status_code == 303:
        response_303 = cast(Any, None)
        return response_303

    if response.status_code == 400:
        response_400 = response.text
        return response_400

    if response.status_code == 403:
        response_403 = response.text
        return response_403

    if response.status_code == 404:
        response_404 = response.text
        return response_404

    if response.status_code == 410:
        response_410 = response.text
        return response_410

    if response.status_code == 429:
        response_429 = response.text
        return response_429

    if response.status_code == 503:
        response_503 = response.text
        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    token: str | Unset = UNSET,
    place: str | Unset = UNSET,
) -> Response[Any | str]:
    """The waiting page.

     With a join token it joins its user, as `POST …/tickets` does. Then it goes on to the page of the
    place, whose own
    token names no user and ends with the ticket. That page shows the place. When the user is admitted,
    it goes on to
    `return_to` with the pass.

    Args:
        id (str):
        token (str | Unset):
        place (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | str]
    """

    kwargs = _get_kwargs(
        id=id,
        token=token,
        place=place,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    token: str | Unset = UNSET,
    place: str | Unset = UNSET,
) -> Any | str | None:
    """The waiting page.

     With a join token it joins its user, as `POST …/tickets` does. Then it goes on to the page of the
    place, whose own
    token names no user and ends with the ticket. That page shows the place. When the user is admitted,
    it goes on to
    `return_to` with the pass.

    Args:
        id (str):
        token (str | Unset):
        place (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | str
    """

    return sync_detailed(
        id=id,
        client=client,
        token=token,
        place=place,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    token: str | Unset = UNSET,
    place: str | Unset = UNSET,
) -> Response[Any | str]:
    """The waiting page.

     With a join token it joins its user, as `POST …/tickets` does. Then it goes on to the page of the
    place, whose own
    token names no user and ends with the ticket. That page shows the place. When the user is admitted,
    it goes on to
    `return_to` with the pass.

    Args:
        id (str):
        token (str | Unset):
        place (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | str]
    """

    kwargs = _get_kwargs(
        id=id,
        token=token,
        place=place,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient | Client,
    token: str | Unset = UNSET,
    place: str | Unset = UNSET,
) -> Any | str | None:
    """The waiting page.

     With a join token it joins its user, as `POST …/tickets` does. Then it goes on to the page of the
    place, whose own
    token names no user and ends with the ticket. That page shows the place. When the user is admitted,
    it goes on to
    `return_to` with the pass.

    Args:
        id (str):
        token (str | Unset):
        place (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | str
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            token=token,
            place=place,
        )
    ).parsed
